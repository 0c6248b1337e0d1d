"""The ground floor: errors, machine limits, compiled kernels, atomic files and terminal text."""
