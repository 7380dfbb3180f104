"""The paper's heart: neural field, Hamiltonian, losses, correspondence, refinement."""
