"""The cost of a chain of element-wise kernels: pure, element-wise numpy in SI units.

Arguments are scalars or arrays that broadcast against each other; results are float64. An argument
outside its range in `model.arguments` raises `ValueError`.
"""
