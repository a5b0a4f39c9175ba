"""Training of a variational autoencoder, in torch, which is imported when it is used.

The model is ``y ~ N(0, I)``, ``z = g(y) + √v ε``. The encoder gives the mean ``μ`` and the logarithm of the variance
``σ²`` of the code of a row, and the loss is the negative lower bound of the evidence (Kingma and Welling 2014), with
``β`` before its second term (Higgins et al. 2017)::

    (d/2) log(2πv) + E ‖z − g(y)‖² / 2v + β KL,    KL = ½ Σ (μ² + σ² − log σ² − 1),    y = μ + σ ε

The expectation is taken at one ``ε ~ N(0, I)`` for each row and epoch. ``v`` is learnt, too: at the minimum it is the
mean squared error of a feature (Rybkin, Daniilidis and Levine 2021).
"""

import math
from typing import Any

from lowdim.solve.network import pull, push
from lowdim.solve.training import Trainer
from lowdim.work.random import stream

_LEAST = 1e-6  # variance of the noise, of features of variance 1


class VariationalTrainer(Trainer):
    """Training on the lower bound, in nats per row."""

    def _further(self) -> list[Any]:
        self.unit, self.k = 1.0, self.decoder[0].weights.shape[1]
        self.log_noise = self.torch.full((1,), math.log(self.plan.noise_variance), device=self.rows.device)
        self.log_noise.grad = self.torch.zeros_like(self.log_noise)
        return [self.log_noise]

    def _begin(self, epoch: int | None) -> None:
        if epoch is None:
            self.random = stream(self.plan.seed, "codes held out")
        else:
            self.random = stream(self.plan.seed, "codes", self.plan.first_epoch + epoch)

    def _step(self, Z: Any) -> Any:
        """Step along the gradient of one batch; the sum of the loss before it."""
        total, outputs, (mean, std, noise), decoded, E = self._bound(Z)
        n, beta, v = len(Z), self.plan.beta, self.log_noise.exp()
        self.log_noise.grad.copy_(0.5 * Z.shape[1] - 0.5 * E.square().sum(0).sum() / (v * n))
        G = pull(self.torch, self.decoder, decoded, E / (v * n), self.activation) @ self.decoder[0].weights
        by_mean = G + (beta / n) * mean
        by_log = 0.5 * (G * noise * std + (beta / n) * (std * std - 1))
        pull(self.torch, self.encoder, outputs, self.torch.cat([by_mean, by_log], 1), self.activation)
        self.optimizer.step()
        self.log_noise.clamp_(min=math.log(_LEAST))
        return total

    def _bound(self, Z: Any) -> tuple[Any, list[Any], tuple[Any, Any, Any], list[Any], Any]:
        """Sum of the loss over rows; outputs of the encoder; the codes; outputs of the decoder; its errors."""
        outputs = push(self.torch, self.encoder, Z, self.activation)
        mean, log = outputs[-1].split(self.k, 1)
        std = (0.5 * log).exp()
        drawn = self.random.standard_normal((len(Z), self.k), "float32")
        noise = self.torch.from_numpy(drawn).to(self.rows.device)
        decoded = push(self.torch, self.decoder, mean + std * noise, self.activation)
        E = decoded[-1] - Z
        squares = E.square().sum(0).sum()  # in this order it is the same for any number of threads
        divergence = 0.5 * (mean.square() + std.square() - log - 1).sum(0).sum()
        fixed = 0.5 * len(Z) * Z.shape[1] * (math.log(2 * math.pi) + self.log_noise[0])
        total = fixed + 0.5 * squares / self.log_noise[0].exp() + self.plan.beta * divergence
        return total, outputs, (mean, std, noise), decoded, E

    def _held_out_loss(self, Z: Any) -> float:
        return float(self._bound(Z)[0].item())

    def _noise_variance(self) -> float:
        return float(self.log_noise.exp().item())
