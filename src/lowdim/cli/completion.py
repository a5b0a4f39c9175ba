"""``lowdim completion``: shell completion of commands, options, methods and data sets."""

import os

import click

from lowdim.cli.printed_tables import echo

_WHERE = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/lowdim.fish",
}


@click.command(
    "completion",
    short_help="Print the script that completes lowdim's commands in a shell.",
    epilog="""\b
Examples:
  eval "$(lowdim completion bash)"
  lowdim completion zsh >> ~/.zshrc
  lowdim completion fish > ~/.config/fish/completions/lowdim.fish
""",
)
@click.argument("shell", type=click.Choice(tuple(_WHERE)), required=False)
@click.pass_context
def command(ctx: click.Context, shell: str | None) -> None:
    """Print the completion script of SHELL; without one, that of the shell in use.

    Put it where your shell reads it at startup: ~/.bashrc, ~/.zshrc, or ~/.config/fish/completions/lowdim.fish.
    """
    from click.shell_completion import get_completion_class

    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    kind = get_completion_class(name) if name in _WHERE else None
    if kind is None:
        raise click.UsageError(f"a shell is needed, one of {', '.join(_WHERE)}; got {name or 'none'!r}.", ctx)
    echo(kind(ctx.find_root().command, {}, "lowdim", "_LOWDIM_COMPLETE").source())
