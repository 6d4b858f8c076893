import type { Database, Tx } from "@/lib/db/client";
import type { SqlReader } from "@/lib/modules/funds/service";

/** The transaction, or the database outside of any, as something that statements are put to. */
export const sqlOf = (tx: Tx | Database["prisma"]): SqlReader => ({
  query: <Row extends object>(text: string, values: readonly unknown[]) => tx.$queryRawUnsafe<Row[]>(text, ...values),
});
