import type { ResponseOf } from "@/lib/contracts/contract";
import type { streamChanges } from "@/lib/contracts/changes";
import type { Cursor } from "./rows";
import type { Batch } from "./feed";

export type { Batch } from "./feed";

export const toChanges = ({ hints }: Batch): ResponseOf<typeof streamChanges> => ({
  changes: hints.map(({ kind, id, at }) => ({ kind, id, at: at.toISOString() })),
});

export const cursorText = ({ events, audit }: Cursor): string =>
  `${String(events)}.${String(audit)}`;

const CURSOR_PATTERN = /^(\d{1,15})\.(\d{1,15})$/;

/** Parses the text of a cursor. Returns null for any other text. */
export const parseCursor = (text: string | null): Cursor | null => {
  const [, events, audit] = CURSOR_PATTERN.exec(text ?? "") ?? [];
  return events === undefined || audit === undefined
    ? null
    : { events: Number(events), audit: Number(audit) };
};
