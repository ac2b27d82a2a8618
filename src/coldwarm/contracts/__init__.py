"""Typed, versioned records of everything that is written down.

==================  =====================================================================
``base``            what every record has in common
``protocol``        how a case was measured
``environment``     where
``observation``     what one process saw
``result``          the observations of a case with their summaries, and the run's index
``bench``           what a bench of a user's own functions says
``noise``           what difference can be shown on a machine, and in what time
``published``       the published contracts' own records
``nextstat``        native results expressed in the published contracts
``codec``           records to bytes and back, migrations, refusal of newer versions
``strict``          JSON without its loose ends
``positions``       lines of fields in a JSON text
``faults``          what is wrong with an artifact, in one line
``journal``         one line for each thing that happened in a run
``check``           whether an artifact, or everything in a folder, keeps its contract
``schema``          the JSON Schemas, generated into ``schemas/``
==================  =====================================================================
"""
