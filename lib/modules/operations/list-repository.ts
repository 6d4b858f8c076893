import type { Database } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";
import { createNotedRepository, type Terms, type Wanted } from "./noted-repository";
import type { Operation } from "./operation";
import type { OperationFilter } from "./operation-filter";
import { DEPOSIT_KIND } from "./deposit-kind";
import { PRIVATE_KINDS } from "./private-kinds";
import { readOperations, type ReadLog, type ReadOperation } from "./readable";
import { includeOf } from "./repository";
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
export const termsQuery = (
  projectId: string,
  { terms, oneOf: groups }: Terms,
  limit: number,
): { readonly text: string; readonly values: unknown[] } => {
  const lists = [
    ...(terms.length > 0 ? [["@>", terms] as const] : []),
    ...groups.map((group) => ["&&", group] as const),
  ];
  const conditions = lists.map(([operator], index) => `search_terms ${operator} $${String(index + 3)}::text[] AND `);
  return {
    text: `SELECT id FROM operation WHERE ${conditions.join("")}project_id = $1 LIMIT $2`,
    values: [projectId, limit, ...lists.map(([, list]) => list)],
  };
};

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

/** A list of one is a term that each operation must have. */
const termsOf = ({ chainId = [], walletId = [] }: OperationFilter): Terms => {
  const lists = [chainId.map(chainTerm), walletId.map((id) => id.toLowerCase())];
  return {
    terms: lists.flatMap((list) => (list.length === 1 ? list : [])),
    oneOf: lists.filter(({ length }) => length > 1),
  };
};

/** The columns have separate indexes, so this query reads only its matches. */
const idsByHash = async (
  { prisma, pool }: Pick<Database, "prisma" | "pool">,
  projectId: string,
  hash: string,
): Promise<string[]> => {
  const legs = await prisma.operationLeg.findMany({
    where: {
      projectId,
      OR: [{ sourceTxHash: hash }, { destTxHash: hash }, { refundTxHash: hash }, { userOpHash: hash }],
    },
    select: { operationId: true },
    take: SAME_HASH_MAX,
  });
  // A deposit has no legs; its hash is one of its terms.
  const { rows } = await pool.query<{ id: string }>(termsQuery(projectId, { terms: [hash], oneOf: [] }, SAME_HASH_MAX));
  return [...legs.map(({ operationId }) => operationId), ...rows.map(({ id }) => id)];
};

export const createOperationListRepository = ({ prisma, pool }: Database, log: ReadLog) => {
  const noted = createNotedRepository({ pool });

  /** Null when too many operations match to list them all. */
  const idsByTerms = async (projectId: string, wanted: Terms): Promise<string[] | null> => {
    const { rows } = await pool.query<{ id: string }>(termsQuery(projectId, wanted, RARE_MAX + 1));
    return rows.length > RARE_MAX ? null : rows.map(({ id }) => id);
  };

  const withTerms = async (projectId: string, wanted: Terms): Promise<Prisma.OperationWhereInput> => {
    if (wanted.terms.length + wanted.oneOf.length === 0) return {};
    const ids = await idsByTerms(projectId, wanted);
    if (ids !== null) return { id: { in: ids } };
    const any = wanted.oneOf.map((group) => ({ searchTerms: { hasSome: [...group] } }));
    return { AND: [{ searchTerms: { hasEvery: [...wanted.terms] } }, ...any] };
  };

  /** The ids that a search names or that have its hash; null for a search by a term. */
  const idsOf = async (projectId: string, search: Search | null): Promise<readonly string[] | null> => {
    if (search?.by === "id") return [search.id];
    return search?.by === "hash" ? idsByHash({ prisma, pool }, projectId, search.hash) : null;
  };

  const byText = async (
    { projectId, filter }: OperationPage,
    { search, ids, terms, oneOf: groups }: Wanted,
  ): Promise<Prisma.OperationWhereInput> => {
    const all = search?.by === "term" ? [...terms, search.term] : terms;
    const matched = await withTerms(projectId, { terms: all, oneOf: groups });
    return { AND: [ids === null ? {} : { id: { in: [...ids] } }, matched, columnsOf(filter)] };
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
        include: includeOf(projectId),
      });
      return readOperations(rows, log).flatMap(({ operation }) => operation ?? []);
    },

    /** Newest first. */
    page: async (asked: OperationPage): Promise<ReadOperation[]> => {
      const { projectId, filter, before, limit } = asked;
      const search = filter.q === undefined ? null : readSearch(filter.q);
      const wanted = { search, ...termsOf(filter), ids: await idsOf(projectId, search) };
      const byNote = await noted({ projectId, filter, before, limit, ...wanted });
      const text = filter.tag === undefined ? [await byText(asked, wanted)] : [];
      // Prisma takes a condition without content as false inside OR.
      const where = byNote === null ? { AND: text } : { OR: [{ id: { in: byNote } }, ...text] };
      const rows = await prisma.operation.findMany({
        where: { projectId, ...where, ...(before === undefined ? {} : { id: { lt: before } }) },
        orderBy: { id: "desc" },
        take: limit,
        include: includeOf(projectId),
      });
      return readOperations(rows, log);
    },
  };
};

export type OperationListRepository = ReturnType<typeof createOperationListRepository>;
