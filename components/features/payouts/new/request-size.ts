import { BODY_BYTES_MAX } from "@/lib/contracts/contract";
import { PAYOUT_ROWS_MAX } from "@/lib/core/payout-facts";
import { countText } from "@/lib/core/amount-text";
import { mebibytes } from "@/components/features/file-import/read-import";
import type { DraftValues } from "./draft-row";

/** Size of a request without its rows, in bytes. */
const FRAME_BYTES = 1_024;
/**
 * An example address of a token. The request names tokens by address, so the computed size must
 * include an address for each row.
 */
const TOKEN = "0x0000000000000000000000000000000000000000";

export const requestBytes = (rows: readonly DraftValues[]): number =>
  FRAME_BYTES +
  new Blob(
    rows.map(({ recipient, amount, reference, note }) =>
      JSON.stringify({
        recipientAccountId: recipient,
        amount,
        token: TOKEN,
        reference: reference || undefined,
        note: note || undefined,
      }),
    ),
  ).size;

/** Why the rows do not fit into one payout, and the next step; null when they do. */
export const requestProblem = (rows: readonly DraftValues[]): string | null => {
  if (rows.length > PAYOUT_ROWS_MAX)
    return `There are ${countText(rows.length)} rows; a payout takes at most ${countText(PAYOUT_ROWS_MAX)}. Split the file.`;
  const bytes = requestBytes(rows);
  return bytes > BODY_BYTES_MAX.bulk
    ? `The rows make a request of ${mebibytes(bytes)}; at most ${mebibytes(BODY_BYTES_MAX.bulk)} can be sent. Leave out the notes, or split the file.`
    : null;
};
