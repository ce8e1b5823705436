"""Names of operators without padding that stand beside padded ones after a rewrite."""

CROP = ("Slice",)
JOIN = ("Concat",)
FACTOR = ("Mul",)
ARITHMETIC = ("Abs", "Add", "Div", "Mul", "Pow", "Sqrt", "Sub")
RANK = ("Squeeze", "Unsqueeze")
LOOKUP = ("Gather",)
SHAPES = ("ConstantOfShape", "Expand", "Greater", "Max", "Mod", "Neg", "Reshape", "Shape", "Where")
EVERYTHING = (*CROP, *JOIN, *ARITHMETIC, *RANK, *LOOKUP, *SHAPES)
