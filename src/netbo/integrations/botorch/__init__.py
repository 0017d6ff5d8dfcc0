"""A posterior on a network as a BoTorch model: its input is (edge, distance along the edge).

Needs the extra 'botorch'; see docs/botorch.md.
"""

from netbo.optional import require

for _package in ("torch", "botorch.models"):
    require(_package, extra="botorch", purpose="a BoTorch model")

from netbo.integrations.botorch.model import NetworkModel  # noqa: E402
from netbo.integrations.botorch.tensors import candidates_tensor, points_from  # noqa: E402

__all__ = ["NetworkModel", "candidates_tensor", "points_from"]
