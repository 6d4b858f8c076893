/** Finds the rows that were paid by an operation which the database lost in a restore. */
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { SigningGate } from "@/lib/money/signing/service";

interface Payment {
  readonly recipient: string;
  readonly amountBase: bigint;
}

interface Place {
  readonly projectId: string;
  readonly chainId: number;
  readonly token: Pick<Token, "address" | "decimals">;
}

type LostMoves = Pick<SigningGate, "hasPaid">;

const isAnyPaid = (
  lostMoves: LostMoves,
  { projectId, chainId, token }: Place,
  rows: readonly Payment[],
): Promise<boolean> =>
  lostMoves.hasPaid({
    ...{ projectId, chainId, token: token.address },
    payments: rows.map(({ recipient, amountBase }) => ({
      recipient,
      amount: formatAmount(amountBase, token.decimals),
    })),
  });

/**
 * Whether an operation that the database lost in a restore made one of these payments. Counts
 * operations that a person has accepted as lost and that nobody has released since.
 * @throws DomainError `signing_off`
 */
export const hasLostPayment = async (
  lostMoves: LostMoves,
  place: Place,
  rows: readonly Payment[],
): Promise<boolean> => rows.length > 0 && isAnyPaid(lostMoves, place, rows);

/**
 * Returns the rows for which `hasLostPayment` is true.
 * @throws DomainError `signing_off`
 */
export const lostPaymentsAmong = async <Row extends Payment>(
  lostMoves: LostMoves,
  place: Place,
  rows: readonly Row[],
): Promise<readonly Row[]> => {
  if (!(await hasLostPayment(lostMoves, place, rows))) return [];
  const lost: Row[] = [];
  for (const row of rows) if (await isAnyPaid(lostMoves, place, [row])) lost.push(row);
  return lost;
};
