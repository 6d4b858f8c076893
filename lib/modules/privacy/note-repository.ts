import type { Database, Tx } from "@/lib/db/client";
import { toBigInt } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { TakenError } from "./errors";
import type { StepState } from "./private-step";

/** An operation with the private wallet whose notes it spends. */
export interface Spender {
  readonly projectId: string;
  readonly walletId: string;
  readonly chainId: number;
  readonly operationId: string;
}

const OPEN: readonly StepState[] = ["queued", "proved", "submitted"];

/** SQL condition on an operation `o`: it takes its note out, or can still do so. An exit that awaits approval has not begun. */
export const EXIT_RUNS = Prisma.sql`(o.status = 'processing' OR (o.status = 'pending' AND o.sub_status <> 'awaiting_approval'))`;

/** Makes operations that take notes out of a wallet follow one another, so that a public exit and a spend cannot share a note. */
export const lockWallet = async (
  tx: Tx,
  { projectId, walletId }: Pick<Spender, "projectId" | "walletId">,
): Promise<void> => {
  await tx.$queryRaw`SELECT id FROM privacy_wallet WHERE project_id = ${projectId} AND id = ${walletId} FOR UPDATE`;
};

/** Notes that operations take out of pools. */
export const createNoteRepository = ({ prisma }: Pick<Database, "prisma">) => ({
  /** Notes that operations of the project spend now, with the amount in base units that each takes out. */
  notesInUse: async (projectId: string, chainId: number): Promise<ReadonlyMap<string, bigint>> => {
    const rows = await prisma.privacyStep.findMany({
      where: { projectId, chainId, state: { in: [...OPEN] } },
      select: { noteId: true, withdrawBase: true },
    });
    const leaving = await prisma.$queryRaw<{ note_id: string; amount_base: Prisma.Decimal }[]>`
      SELECT t.note_id, t.amount_base FROM privacy_transfer t JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
      WHERE t.project_id = ${projectId} AND t.chain_id = ${chainId} AND t.note_id IS NOT NULL AND ${EXIT_RUNS}`;
    return new Map([
      ...rows.map(({ noteId, withdrawBase }) => [noteId, toBigInt(withdrawBase)] as const),
      ...leaving.map(({ note_id: noteId, amount_base: base }) => [noteId, toBigInt(base)] as const),
    ]);
  },

  /** Makes sure, until the transaction ends, that no other operation takes the note out. @throws TakenError */
  claimExit: async (
    tx: Tx,
    { projectId, walletId, chainId, noteId, operationId }: Spender & { readonly noteId: string },
  ): Promise<void> => {
    await lockWallet(tx, { projectId, walletId });
    const [other] = await tx.$queryRaw<unknown[]>`
      SELECT 1 FROM privacy_transfer t JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
      WHERE t.project_id = ${projectId} AND t.chain_id = ${chainId} AND t.note_id = ${noteId} AND t.operation_id <> ${operationId} AND ${EXIT_RUNS}
      UNION ALL
      SELECT 1 FROM privacy_step
      WHERE project_id = ${projectId} AND chain_id = ${chainId} AND note_id = ${noteId} AND state IN ('queued', 'proved', 'submitted')`;
    if (other !== undefined) throw new TakenError("The note is in use.");
  },
});
