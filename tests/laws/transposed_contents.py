"""What every output cell of a one-axis transposed convolution adds up."""

from onnxpad.padding.chain import AutoPad, Chain, Pads


def transposed_cells(chain: Chain, size: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """(input cell, tap) pairs of each output cell; written from the text of ConvTranspose-11.

    Raises ValueError where the chain has no output, or output_shape lies out of reach.
    """
    (axis,) = chain.axes
    (extra,) = chain.output_padding or (0,)
    taps = [tap * axis.dilation for tap in range(axis.kernel)]
    touched: dict[int, list[tuple[int, int]]] = {}
    for cell in range(size):
        for tap, offset in enumerate(taps):
            touched.setdefault(cell * axis.stride + offset, []).append((cell, tap))
    begin, count = _kept(chain, max(touched) + 1, max(taps) + 1 + extra - axis.stride, extra)
    if size < 1 or count < 1 or not 0 <= extra < max(axis.stride, axis.dilation):
        raise ValueError(f"no output of {count} cells")
    return tuple(tuple(touched.get(begin + at, ())) for at in range(count))


def _kept(chain: Chain, full: int, same_total: int, extra: int) -> tuple[int, int]:
    """First cell of the full output that is kept, and how many; `full` is without output_padding."""  # noqa: E501
    if chain.output_shape:
        (wanted,) = chain.output_shape
        if wanted > full + max(extra, chain.axes[0].stride - 1):
            raise ValueError(f"output_shape {wanted} of {full} cells")
        return _larger_half_at_begin(chain, max(0, full + extra - wanted)), wanted
    match chain.padding:
        case AutoPad.VALID:
            return 0, full + extra
        case AutoPad():
            total = max(0, same_total)
            return _larger_half_at_begin(chain, total), full + extra - total
        case Pads(begins, ends):
            return begins[0], full + extra - begins[0] - ends[0]
    raise ValueError(f"{chain.padding} crops nothing that is known")


def _larger_half_at_begin(chain: Chain, total: int) -> int:
    """Cells cropped at the begin; SAME_UPPER alone crops the smaller half there."""
    return total // 2 if chain.padding is AutoPad.SAME_UPPER else total - total // 2
