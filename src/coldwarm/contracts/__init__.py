"""Typed, versioned records of everything that is written down.

==================  =====================================================================
``base``            what every record has in common, and which of them are documents
``reasons``         why something is so, as data
``environment``     where was measured
``observation``     what one process saw
``answer``          what is said of several processes, and of a run
``result``          how a case was measured, its result, and the run's index
``comparison``      two runs held against each other
``policy``          which differences matter, and which fail
``bench``           reports on a user's own functions
``doctor``          what the doctor says of a program
``catalogue``       what patterns and claims have shown
``snapshot``        what a snapshot consists of, and what was found out about one
``nextstat``        the published contracts, and native results expressed in them
``codec``           records to bytes and back, and their JSON Schemas in ``schemas/``
``run_journal``     one line for each thing that happened in a run
``reader``          the folder of a run, read whole and checked
==================  =====================================================================
"""
