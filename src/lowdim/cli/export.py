"""``lowdim export``: a saved model as an ONNX file."""

from pathlib import Path

import click

from lowdim.cli import arguments
from lowdim.cli.errors import tell
from lowdim.cli.outputs import demand_targets

_FILES = ("onnx",)
_NAMED = 6  # columns of the input


@click.command(
    "export",
    short_help="Write a saved model as an ONNX file.",
    epilog="""\b
Examples:
  lowdim reduce table.csv --method pca --save map.lowdim
  lowdim export map.lowdim -o map.onnx
  lowdim export map.lowdim -o back.onnx --inverse
""",
)
@click.argument("model_file", metavar="MODEL", shell_complete=arguments.complete_files)
@click.option(
    "-o", "--output", metavar="FILE", required=True, shell_complete=arguments.complete_files, help="The .onnx file."
)
@click.option("--inverse", is_flag=True, help="Write what leads from components back to columns.")
@click.option("--float64", "double", is_flag=True, help="Compute in float64; float32 by default.")
@arguments.quiet
def command(model_file: str, output: str, inverse: bool, double: bool, quiet: bool) -> None:
    """Write MODEL, a file that 'lowdim reduce --save' wrote, as an ONNX file, which runs without lowdim.

    Linear and kernel methods, networks and chosen columns can be written; of a preparation columns of numbers. The
    input is one matrix of the columns that the file names under 'features_in'.
    """
    import lowdim
    from lowdim.methods.onnx_export import written_names

    demand_targets(model_file, {"-o": (output, _FILES)})
    model = lowdim.load(Path(model_file).expanduser())
    method = "inverse_transform" if inverse else "transform"
    path = Path(output).expanduser()
    model.to_onnx(path, method, dtype="float64" if double else "float32")
    if quiet:
        return
    given, made = written_names(model, method)
    few = ", ".join(given[:_NAMED]) + (f" and {len(given) - _NAMED:,} more" if len(given) > _NAMED else "")
    tell(f"wrote {output} ({path.stat().st_size:,} bytes): {len(made)} columns of {len(given)}, {few}.")
