import type { ResponseOf } from "@/lib/contracts/contract";
import type { streamChanges } from "@/lib/contracts/changes";
import type { Batch } from "./subscriber";

export const toChanges = ({ hints }: Batch): ResponseOf<typeof streamChanges> => ({
  changes: hints.map(({ kind, id, at }) => ({ kind, id, at: at.toISOString() })),
});
