"""Local scores (scores of one child given its parents), counting, and score tables."""

from dagneal.scoring.orders import dag_of_order as dag_of_order, random_orders as random_orders, score_orders as score_orders
from dagneal.scoring.scorefiles import read_scores as read_scores, write_scores as write_scores
from dagneal.scoring.scorer import Scorer as Scorer, score_table as score_table
from dagneal.scoring.scores import (
    AIC as AIC,
    BIC as BIC,
    FNML as FNML,
    K2 as K2,
    QNML as QNML,
    BDeu as BDeu,
    BDeuRows as BDeuRows,
    BDs as BDs,
    Dirichlet as Dirichlet,
    InformationCriterion as InformationCriterion,
    Likelihood as Likelihood,
    Perks as Perks,
    Score as Score,
    as_score as as_score,
)
from dagneal.scoring.table import ScoreTable as ScoreTable, Subproblems as Subproblems
