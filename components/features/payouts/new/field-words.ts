import { countText } from "@/lib/core/amount-text";
import type { DraftField } from "./draft-row";

export const FIELD_WORDS = {
  recipient: "Recipient",
  amount: "Amount",
  token: "Token",
  reference: "Reference",
  note: "Note",
} as const satisfies Record<DraftField, string>;

/** `1 row`, `1,250 rows`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${countText(count)} ${count === 1 ? one : many}`;
