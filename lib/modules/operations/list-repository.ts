import type { Status } from "@/lib/core/status";
import type { Database } from "@/lib/db/client";
import type { Prisma } from "@/lib/db/generated/client";
import type { Operation } from "./operation";
import { DEPOSIT_KIND } from "./deposit-kind";
import { PRIVATE_KINDS } from "./private-kinds";
import { readOperations, type ReadLog, type ReadOperation } from "./readable";
import { OPERATION_INCLUDE } from "./repository";
import { chainTerm, readSearch } from "./search";

export interface OperationFilter {
  readonly status?: Status | readonly Status[] | undefined;
  readonly subStatus?: string | undefined;
  readonly kind?: string | readonly string[] | undefined;
  readonly chainId?: number | undefined;
  readonly walletId?: string | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  readonly q?: string | undefined;
  /** A whole tag, in any case. */
  readonly tag?: string | undefined;
  /** True: leaves private operations out. */
  readonly hidesPrivate?: boolean | undefined;
}

export interface OperationPage {
  readonly projectId: string;
  readonly filter: OperationFilter;
  /** Operations that a search finds by their memo or tags, beside those that it finds by its text. */
  readonly annotated?: readonly string[];
  /** Only these operations, which have the filter's tag. */
  readonly tagged?: readonly string[] | null;
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

  const searched = async (
    projectId: string,
    q: string,
  ): Promise<{ where: Prisma.OperationWhereInput; terms: string[] }> => {
    const search = readSearch(q);
    switch (search.by) {
      case "id":
        return { where: { id: search.id }, terms: [] };
      case "hash":
        return { where: { id: { in: await idsByHash({ prisma, pool }, projectId, search.hash) } }, terms: [] };
      case "term":
        return { where: {}, terms: [search.term] };
    }
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
    page: async ({
      projectId,
      filter,
      annotated = [],
      tagged = null,
      before,
      limit,
    }: OperationPage): Promise<ReadOperation[]> => {
      const found = filter.q === undefined ? { where: {}, terms: [] } : await searched(projectId, filter.q);
      const terms = [
        ...(filter.chainId === undefined ? [] : [chainTerm(filter.chainId)]),
        ...(filter.walletId === undefined ? [] : [filter.walletId.toLowerCase()]),
      ];
      const byText = { AND: [found.where, await withTerms(projectId, [...found.terms, ...terms])] };
      const byNote =
        annotated.length === 0 ? [] : [{ AND: [{ id: { in: [...annotated] } }, await withTerms(projectId, terms)] }];
      const rows = await prisma.operation.findMany({
        where: {
          projectId,
          AND: [
            { OR: [byText, ...byNote] },
            tagged === null ? {} : { id: { in: [...tagged] } },
            before === undefined ? {} : { id: { lt: before } },
          ],
          ...columnsOf(filter),
        },
        orderBy: { id: "desc" },
        take: limit,
        include: OPERATION_INCLUDE,
      });
      return readOperations(rows, log);
    },
  };
};

export type OperationListRepository = ReturnType<typeof createOperationListRepository>;
