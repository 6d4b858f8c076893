/** Finds rows of which an operation that the database lost in a restore has made the payment. */
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { SigningGate } from "@/lib/modules/signing/service";

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
 * Whether a move that the database lost, and that a person has accepted and not released, made one of these payments.
 * @throws DomainError `signing_off`
 */
export const hasLostPayment = async (lostMoves: LostMoves, place: Place, rows: readonly Payment[]): Promise<boolean> =>
  rows.length > 0 && isAnyPaid(lostMoves, place, rows);

/** As `hasLostPayment`, with the rows that it is true for. @throws DomainError `signing_off` */
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
