"""Questions to networks: queries, prediction, missing values, effects of interventions, relations of variables."""

from dagneal.inference.effects import Effect as Effect, Range as Range, do as do
from dagneal.inference.queries import (
    Distribution as Distribution,
    Explanation as Explanation,
    evidence_probability as evidence_probability,
    most_probable as most_probable,
    query as query,
)
from dagneal.inference.question import Answer as Answer, Question as Question, ask as ask, parse_question as parse_question
from dagneal.inference.relations import Path as Path, Relation as Relation, blanket as blanket, explain as explain
from dagneal.inference.rows import (
    impute as impute,
    predict as predict,
    row_log_likelihood as row_log_likelihood,
    sample as sample,
)
