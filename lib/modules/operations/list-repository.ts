import type { Database } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";
import { createNotedRepository, type Wanted } from "./noted-repository";
import type { Operation } from "./operation";
import type { OperationFilter } from "./operation-filter";
import { DEPOSIT_KIND } from "./deposit-kind";
import { PRIVATE_KINDS } from "./private-kinds";
import { readOperations, type ReadLog, type ReadOperation } from "./readable";
import { OPERATION_INCLUDE } from "./repository";
import { chainTerm, readSearch, type Search } from "./search";

export interface OperationPage {
  readonly projectId: string;
  readonly filter: OperationFilter;
  /** The page cursor: returns only operations with a smaller id, which are older. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A transaction hash is shared by several operations only when they were bundled. */
const SAME_HASH_MAX = 1000;
/** Up to this many matches are sorted; with more matches, walking along the list finds enough of them quickly. */
const RARE_MAX = 1000;

/**
 * The query has no ORDER BY, so that the planner does not walk along the list: it overestimates rare terms a
 * thousandfold, and would read all operations of the project to find one.
 */
export const TERMS_SQL = "SELECT id FROM operation WHERE search_terms @> $1::text[] AND project_id = $2 LIMIT $3";

const RECIPIENTS_SQL = `
  SELECT DISTINCT recipient FROM (
    SELECT request->'destination'->>'recipient' AS recipient FROM operation
    WHERE project_id = $1 AND status IN ('completed', 'partially_completed', 'processing') AND kind <> ALL($3::text[])
    ORDER BY id DESC LIMIT $2::int) AS latest`;

const oneOf = <T extends string>(wanted: T | readonly T[]): T | { in: T[] } =>
  typeof wanted === "string" ? wanted : { in: [...wanted] };

/** The part of a filter that its columns decide. */
const columnsOf = ({
  hidesPrivate,
  status,
  subStatus,
  kind,
  from,
  to,
}: OperationFilter): Prisma.OperationWhereInput => ({
  ...(hidesPrivate === true ? { NOT: { kind: { in: [...PRIVATE_KINDS] } } } : {}),
  ...(status ? { status: oneOf(status) } : {}),
  ...(subStatus === undefined ? {} : { subStatus }),
  ...(kind ? { kind: oneOf(kind) } : {}),
  ...(from !== undefined || to !== undefined
    ? { createdAt: { ...(from ? { gte: from } : {}), ...(to ? { lt: to } : {}) } }
    : {}),
});

/** The columns have separate indexes, so this query reads only its matches. */
const idsByHash = async (
  { prisma, pool }: Pick<Database, "prisma" | "pool">,
  projectId: string,
  hash: string,
): Promise<string[]> => {
  const legs = await prisma.operationLeg.findMany({
    where: { OR: [{ sourceTxHash: hash }, { destTxHash: hash }, { refundTxHash: hash }, { userOpHash: hash }] },
    select: { operationId: true },
    take: SAME_HASH_MAX,
  });
  // A deposit has no legs; its hash is one of its terms.
  const { rows } = await pool.query<{ id: string }>(TERMS_SQL, [[hash], projectId, SAME_HASH_MAX]);
  return [...legs.map(({ operationId }) => operationId), ...rows.map(({ id }) => id)];
};

export const createOperationListRepository = ({ prisma, pool }: Database, log: ReadLog) => {
  const noted = createNotedRepository({ pool });

  /** Null when too many operations match to list them all. */
  const idsByTerms = async (projectId: string, terms: readonly string[]): Promise<string[] | null> => {
    const { rows } = await pool.query<{ id: string }>(TERMS_SQL, [terms, projectId, RARE_MAX + 1]);
    return rows.length > RARE_MAX ? null : rows.map(({ id }) => id);
  };

  const withTerms = async (projectId: string, terms: readonly string[]): Promise<Prisma.OperationWhereInput> => {
    if (terms.length === 0) return {};
    const ids = await idsByTerms(projectId, terms);
    return ids === null ? { searchTerms: { hasEvery: [...terms] } } : { id: { in: ids } };
  };

  /** The ids that a search names or that have its hash; null for a search by a term. */
  const idsOf = async (projectId: string, search: Search | null): Promise<readonly string[] | null> => {
    if (search?.by === "id") return [search.id];
    return search?.by === "hash" ? idsByHash({ prisma, pool }, projectId, search.hash) : null;
  };

  const byText = async (
    { projectId, filter }: OperationPage,
    { search, ids, terms }: Wanted,
  ): Promise<Prisma.OperationWhereInput> => {
    const all = search?.by === "term" ? [...terms, search.term] : terms;
    return { AND: [ids === null ? {} : { id: { in: [...ids] } }, await withTerms(projectId, all), columnsOf(filter)] };
  };

  return {
    /**
     * The distinct recipients of a project's latest operations, except deposits and private ones, which a look-alike would reveal.
     */
    recipients: async (projectId: string, operationsMax: number): Promise<string[]> => {
      const { rows } = await pool.query<{ recipient: string }>(RECIPIENTS_SQL, [
        projectId,
        operationsMax,
        [...PRIVATE_KINDS, DEPOSIT_KIND],
      ]);
      return rows.map(({ recipient }) => recipient);
    },

    byIds: async (projectId: string, ids: readonly string[]): Promise<Operation[]> => {
      const rows = await prisma.operation.findMany({
        where: { projectId, id: { in: [...ids] } },
        include: OPERATION_INCLUDE,
      });
      return readOperations(rows, log).flatMap(({ operation }) => operation ?? []);
    },

    /** Newest first. */
    page: async (asked: OperationPage): Promise<ReadOperation[]> => {
      const { projectId, filter, before, limit } = asked;
      const search = filter.q === undefined ? null : readSearch(filter.q);
      const terms = [
        ...(filter.chainId === undefined ? [] : [chainTerm(filter.chainId)]),
        ...(filter.walletId === undefined ? [] : [filter.walletId.toLowerCase()]),
      ];
      const wanted = { search, terms, ids: await idsOf(projectId, search) };
      const byNote = await noted({ projectId, filter, before, limit, ...wanted });
      const text = filter.tag === undefined ? [await byText(asked, wanted)] : [];
      // Prisma takes a condition without content as false inside OR.
      const where = byNote === null ? { AND: text } : { OR: [{ id: { in: byNote } }, ...text] };
      const rows = await prisma.operation.findMany({
        where: { projectId, ...where, ...(before === undefined ? {} : { id: { lt: before } }) },
        orderBy: { id: "desc" },
        take: limit,
        include: OPERATION_INCLUDE,
      });
      return readOperations(rows, log);
    },
  };
};

export type OperationListRepository = ReturnType<typeof createOperationListRepository>;
