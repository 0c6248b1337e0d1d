"""The search for the best DAG as a QUBO (O'Gorman et al. 2015): encode, and decode what a sampler returns."""
