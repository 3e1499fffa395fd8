"""Every expectation, by the type that suites use. A new one is a file in this room and a line in this table."""

from __future__ import annotations

from dataguard.expectations.alphabetic_words import ExpectAlphabeticWordFractionToBeAbove
from dataguard.expectations.attention_mask_binary import ExpectAttentionMaskToBeBinary
from dataguard.expectations.attention_mask_padding import ExpectAttentionMaskToMatchPadding
from dataguard.expectations.base import Expectation
from dataguard.expectations.bos_at_starts import ExpectBosAtDocumentStarts
from dataguard.expectations.boundaries_consistent import ExpectDocumentBoundariesToBeConsistent
from dataguard.expectations.columns_exist import ExpectColumnsToExist
from dataguard.expectations.digit_runs import ExpectDigitRunsToBeBelow
from dataguard.expectations.distributions_match import ExpectDistributionsToMatchBaseline
from dataguard.expectations.dtypes_fit import ExpectDtypesToFit
from dataguard.expectations.duplicate_lines import ExpectDuplicateLineFractionToBeBelow
from dataguard.expectations.encoding_plausible import ExpectTokenEncodingToBePlausible
from dataguard.expectations.eos_at_ends import ExpectEosAtDocumentEnds
from dataguard.expectations.eos_supervised import ExpectEosToBeSupervised
from dataguard.expectations.epoch_orders_differ import ExpectEpochOrdersToDiffer
from dataguard.expectations.equal_lengths import ExpectColumnsToHaveEqualLengths
from dataguard.expectations.ids_match_text import ExpectIdsToMatchText
from dataguard.expectations.labels_align import ExpectLabelsToAlignWithInputIds
from dataguard.expectations.labels_in_vocabulary import ExpectLabelsToBeInVocabulary
from dataguard.expectations.labels_not_crossing import ExpectLabelsNotToCrossDocuments
from dataguard.expectations.metric_between import ExpectMetricToBeBetween
from dataguard.expectations.no_control_characters import ExpectNoControlCharacters
from dataguard.expectations.no_eos_inside import ExpectNoEosInsideDocuments
from dataguard.expectations.no_mojibake import ExpectNoMojibake
from dataguard.expectations.no_replacement_characters import ExpectNoReplacementCharacters
from dataguard.expectations.order_reproducible import ExpectOrderToBeReproducible
from dataguard.expectations.packing_efficiency import ExpectPackingEfficiencyToBeAbove
from dataguard.expectations.padded_duplicates import ExpectNoPaddedDuplicates
from dataguard.expectations.padding_contiguous import ExpectPaddingToBeContiguous
from dataguard.expectations.padding_ignored import ExpectPaddingToBeIgnoredInLabels
from dataguard.expectations.padding_side import ExpectPaddingSideToBe
from dataguard.expectations.periodic import ExpectRowsNotToBePeriodic
from dataguard.expectations.positions_consistent import ExpectPositionIdsToBeConsistent
from dataguard.expectations.prompt_ignored import ExpectPromptToBeIgnoredInLabels
from dataguard.expectations.prompt_prefix import ExpectPromptToBePrefix
from dataguard.expectations.ranks_disjoint import ExpectRanksToBeDisjoint
from dataguard.expectations.ranks_equally_long import ExpectRanksToBeEquallyLong
from dataguard.expectations.repetitive import ExpectRowsNotToBeRepetitive
from dataguard.expectations.resume_continues import ExpectResumeToContinue
from dataguard.expectations.row_count import ExpectRowCountToBeBetween
from dataguard.expectations.row_token_share import ExpectRowTokenShareToBeBelow
from dataguard.expectations.rows_contain_tokens import ExpectRowsToContainTokens
from dataguard.expectations.rows_not_empty import ExpectRowsNotToBeEmpty
from dataguard.expectations.rows_not_null import ExpectRowsNotToBeNull
from dataguard.expectations.rows_unique import ExpectRowsToBeUnique
from dataguard.expectations.sampler_arguments import ExpectSamplerArgumentsToBeValid
from dataguard.expectations.samples_covered import ExpectSamplesToBeCovered
from dataguard.expectations.schemas_match import ExpectSchemasToMatch
from dataguard.expectations.seeds_agree import ExpectSeedsToAgreeInDistribution
from dataguard.expectations.sequence_lengths import ExpectSequenceLengthsToBeBetween
from dataguard.expectations.shards_intact import ExpectShardsToBeIntact
from dataguard.expectations.shards_match_manifest import ExpectShardsToMatchManifest
from dataguard.expectations.source_token_share import ExpectSourceTokenShareToBeBetween
from dataguard.expectations.sources_known import ExpectSourcesToBeKnown
from dataguard.expectations.spans_covered import ExpectLabelsToCoverSpans
from dataguard.expectations.supervised_tokens import ExpectSupervisedTokensToBeBetween
from dataguard.expectations.symbol_fraction import ExpectSymbolFractionToBeBelow
from dataguard.expectations.token_ids_assigned import ExpectTokenIdsToBeAssigned
from dataguard.expectations.token_ids_in_vocabulary import ExpectTokenIdsToBeInVocabulary
from dataguard.expectations.tokenizer_fits import ExpectTokenizerToFitModel
from dataguard.expectations.tokenizer_matches import ExpectTokenizerToMatchDataset
from dataguard.expectations.truncation import ExpectTruncationToBeConsistentAcrossSources
from dataguard.expectations.unknown_tokens import ExpectUnknownTokenFractionToBeBelow
from dataguard.expectations.white_space_fraction import ExpectWhiteSpaceFractionToBeBelow
from dataguard.expectations.words_shorter import ExpectWordsToBeShorterThan
from dataguard.expectations.worker_seeds_differ import ExpectWorkerSeedsToDiffer
from dataguard.expectations.workers_disjoint import ExpectWorkersToBeDisjoint

EXPECTATIONS: dict[str, type[Expectation]] = {
    each.type(): each
    for each in (
        ExpectShardsToBeIntact,
        ExpectShardsToMatchManifest,
        ExpectSchemasToMatch,
        ExpectColumnsToExist,
        ExpectDtypesToFit,
        ExpectRowCountToBeBetween,
        ExpectSourcesToBeKnown,
        ExpectRowsNotToBeNull,
        ExpectRowsNotToBeEmpty,
        ExpectColumnsToHaveEqualLengths,
        ExpectSequenceLengthsToBeBetween,
        ExpectRowsToBeUnique,
        ExpectRowTokenShareToBeBelow,
        ExpectTokenIdsToBeInVocabulary,
        ExpectTokenIdsToBeAssigned,
        ExpectTokenEncodingToBePlausible,
        ExpectUnknownTokenFractionToBeBelow,
        ExpectIdsToMatchText,
        ExpectRowsToContainTokens,
        ExpectBosAtDocumentStarts,
        ExpectEosAtDocumentEnds,
        ExpectNoEosInsideDocuments,
        ExpectTokenizerToMatchDataset,
        ExpectTokenizerToFitModel,
        ExpectTruncationToBeConsistentAcrossSources,
        ExpectPaddingSideToBe,
        ExpectPaddingToBeContiguous,
        ExpectAttentionMaskToMatchPadding,
        ExpectAttentionMaskToBeBinary,
        ExpectLabelsToAlignWithInputIds,
        ExpectLabelsToBeInVocabulary,
        ExpectPaddingToBeIgnoredInLabels,
        ExpectSupervisedTokensToBeBetween,
        ExpectEosToBeSupervised,
        ExpectPromptToBeIgnoredInLabels,
        ExpectPromptToBePrefix,
        ExpectLabelsToCoverSpans,
        ExpectLabelsNotToCrossDocuments,
        ExpectPositionIdsToBeConsistent,
        ExpectDocumentBoundariesToBeConsistent,
        ExpectPackingEfficiencyToBeAbove,
        ExpectRowsNotToBePeriodic,
        ExpectRowsNotToBeRepetitive,
        ExpectDuplicateLineFractionToBeBelow,
        ExpectSymbolFractionToBeBelow,
        ExpectDigitRunsToBeBelow,
        ExpectWhiteSpaceFractionToBeBelow,
        ExpectNoReplacementCharacters,
        ExpectNoControlCharacters,
        ExpectNoMojibake,
        ExpectWordsToBeShorterThan,
        ExpectAlphabeticWordFractionToBeAbove,
        ExpectSourceTokenShareToBeBetween,
        ExpectMetricToBeBetween,
        ExpectDistributionsToMatchBaseline,
        ExpectSamplerArgumentsToBeValid,
        ExpectOrderToBeReproducible,
        ExpectEpochOrdersToDiffer,
        ExpectRanksToBeDisjoint,
        ExpectRanksToBeEquallyLong,
        ExpectSamplesToBeCovered,
        ExpectNoPaddedDuplicates,
        ExpectWorkersToBeDisjoint,
        ExpectWorkerSeedsToDiffer,
        ExpectResumeToContinue,
        ExpectSeedsToAgreeInDistribution,
    )
}
"""In the order of the catalogue."""
