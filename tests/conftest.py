import pytest
from hypothesis import settings

settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def embeddings(tmp_path_factory):
    """A folder for embeddings, which are slow to find."""
    return tmp_path_factory.mktemp("embeddings")
