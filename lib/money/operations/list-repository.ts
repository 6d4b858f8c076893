import type { Arrival } from "@/lib/books/balances/service";
import type { Database } from "@/lib/platform/db/client";
import { sqlOn, type SqlReader } from "@/lib/platform/db/sql";
import { join, sql, type Statement } from "@/lib/platform/db/statement";
import { base, int, table, text } from "@/lib/platform/db/table";
import { hasNote, hasTag, patternOf } from "@/lib/money/annotations/service";
import { chainTerm, type OperationFilter, readSearch, type Search } from "./search";
import { PRIVATE_KINDS } from "@/lib/core/movement-kinds";
import { createdBetween, oneOf } from "@/lib/platform/db/list-filters";
import type { Prisma } from "@/lib/platform/db/generated/client";
import { type Operation, parseOperation } from "./operation";
import { includeOf } from "./repository";

// Finds operations by their memos and tags.

interface Terms {
  /** Each operation must have all of these terms. */
  readonly terms: readonly string[];
  /** Each operation must have at least one term of each of these lists. */
  readonly oneOf: readonly (readonly string[])[];
}

interface Wanted extends Terms {
  readonly search: Search | null;
  /** Only operations with these ids; null when ids are not limited. */
  readonly ids: readonly string[] | null;
}

interface NotedPage extends Wanted {
  readonly projectId: string;
  readonly filter: OperationFilter;
  readonly before: string | undefined;
  readonly limit: number;
}

const ids = table({ id: text });

/** Conditions on an operation `o`, for filters on columns. */
const columnConditions = ({
  ids: only,
  hidesPrivate,
  status,
  subStatus,
  kind,
  from,
  to,
}: OperationFilter): readonly Statement[] => [
  ...(only === undefined ? [] : [sql`o.id = ANY (${only}::text[])`]),
  ...(hidesPrivate === true ? [sql`o.kind <> ALL (${PRIVATE_KINDS}::text[])`] : []),
  ...(status === undefined ? [] : [sql`o.status = ANY (${status}::text[])`]),
  ...(subStatus === undefined ? [] : [sql`o.sub_status = ${subStatus}`]),
  ...(kind === undefined ? [] : [sql`o.kind = ANY (${kind}::text[])`]),
  ...(from === undefined ? [] : [sql`o.created_at >= ${from}::timestamptz`]),
  ...(to === undefined ? [] : [sql`o.created_at < ${to}::timestamptz`]),
];

/** Conditions on an operation `o` and its annotation `a`. */
const notedConditions = (
  { filter, search, ids: wantedIds, terms, oneOf: groups, before }: NotedPage,
  part: string | undefined,
): readonly Statement[] => {
  const { tag } = filter;
  const conditions = [
    ...columnConditions(filter),
    sql`o.search_terms @> ${terms}::text[]`,
    ...groups.map((group) => sql`o.search_terms && ${group}::text[]`),
  ];
  if (before !== undefined) conditions.push(sql`a.subject_id < ${before}`);
  if (wantedIds !== null) conditions.push(sql`o.id = ANY (${wantedIds}::text[])`);
  if (tag !== undefined) conditions.push(hasTag("a", tag));
  if (part === undefined || search?.by !== "term") return conditions;
  const noted = hasNote("a", patternOf(part));
  // An operation also matches when one of its search terms is the searched text. Without a tag, a
  // separate query finds such operations, because they need no annotation.
  const named =
    tag === undefined
      ? noted
      : sql`(${noted} OR o.search_terms @> ARRAY[${search.term}::text])`;
  return [...conditions, named];
};

/**
 * Creates a function that finds operations by tag or memo. The function reads the annotations of
 * one project, newest operation first, until the page is full. The query contains all conditions,
 * so it finds every match, however many operations have the tag.
 * @returns operation ids, newest first; null when the list has neither a tag nor a search text that
 * a memo could contain
 */
const createNotedRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = sqlOn(pool);
  return async (page: NotedPage): Promise<string[] | null> => {
    const { q, tag } = page.filter;
    const part = page.search?.by === "term" ? q : undefined;
    if (tag === undefined && part === undefined) return null;
    const found = await ids.all(
      db,
      sql`
        SELECT o.id
        FROM annotation a
        JOIN operation o ON o.id = a.subject_id AND o.project_id = a.project_id
        WHERE a.project_id = ${page.projectId}
          AND a.subject_type = 'operation'
          AND ${join(notedConditions(page, part), " AND ")}
        ORDER BY a.subject_id DESC
        LIMIT ${page.limit}::int`,
    );
    return found.map(({ id }) => id);
  };
};

/** Whether the operation `o` has an annotation `a` for which the condition is true. */
const isAnnotated = (projectId: string, condition: Statement): Statement => sql`
  EXISTS (
    SELECT 1 FROM annotation a
    WHERE a.project_id = ${projectId}
      AND a.subject_type = 'operation'
      AND a.subject_id = o.id
      AND ${condition}
  )`;

interface OperationPage {
  readonly projectId: string;
  readonly filter: OperationFilter;
  /** The page cursor: only operations with a smaller id, which are older. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/**
 * Maximum number of operations that one hash finds. One transaction hash can belong to several
 * operations, because bundled operations share a transaction.
 */
const SAME_HASH_MAX = 1000;
/**
 * Maximum number of matches that a search by terms reads and sorts. When more operations match, the
 * list is read in order instead, which finds a full page quickly.
 */
const RARE_MAX = 1000;

/**
 * SQL for the ids of operations with these terms. The query has no ORDER BY: with ORDER BY, the
 * planner would read the list in order. The planner overestimates rare terms a thousandfold, and
 * would read all operations of the project to find one.
 */
export const termsQuery = (
  projectId: string,
  { terms, oneOf: groups }: Terms,
  limit: number,
): Statement => {
  const conditions = [
    ...(terms.length > 0 ? [sql`search_terms @> ${terms}::text[]`] : []),
    ...groups.map((group) => sql`search_terms && ${group}::text[]`),
    sql`project_id = ${projectId}`,
  ];
  return sql`SELECT id FROM operation WHERE ${join(conditions, " AND ")} LIMIT ${limit}::int`;
};

const columnsOf = ({
  ids: only,
  hidesPrivate,
  status,
  subStatus,
  kind,
  from,
  to,
}: OperationFilter): Prisma.OperationWhereInput => ({
  ...oneOf("id", only),
  ...(hidesPrivate === true ? { NOT: { kind: { in: [...PRIVATE_KINDS] } } } : {}),
  ...oneOf("status", status),
  ...(subStatus === undefined ? {} : { subStatus }),
  ...oneOf("kind", kind),
  ...createdBetween({ from, to }),
});

/**
 * Converts the filters on chains and wallets to search terms. A filter with one element becomes a
 * required term.
 */
const termsOf = ({ chainId = [], walletId = [] }: OperationFilter): Terms => {
  const lists = [chainId.map(chainTerm), walletId.map((id) => id.toLowerCase())];
  return {
    terms: lists.flatMap((list) => (list.length === 1 ? list : [])),
    oneOf: lists.filter(({ length }) => length > 1),
  };
};

/**
 * Finds operations by the hash of a transaction or user operation. Hashes have a separate query,
 * because each of the columns has its own index.
 */
const idsByHash = async (
  { prisma, pool }: Pick<Database, "prisma" | "pool">,
  projectId: string,
  hash: string,
): Promise<string[]> => {
  const legs = await prisma.operationLeg.findMany({
    where: {
      projectId,
      OR: [
        { sourceTxHash: hash },
        { destTxHash: hash },
        { refundTxHash: hash },
        { userOpHash: hash },
      ],
    },
    select: { operationId: true },
    take: SAME_HASH_MAX,
  });
  // A deposit has no legs, so its hash is stored as one of its search terms.
  const found = await ids.all(
    sqlOn(pool),
    termsQuery(projectId, { terms: [hash], oneOf: [] }, SAME_HASH_MAX),
  );
  return [...legs.map(({ operationId }) => operationId), ...found.map(({ id }) => id)];
};

export const createOperationListRepository = ({ prisma, pool }: Database) => {
  const noted = createNotedRepository({ pool });

  /**
   * The ids of the operations with these terms; null when more than `RARE_MAX` operations match.
   */
  const idsByTerms = async (projectId: string, wanted: Terms): Promise<string[] | null> => {
    const found = await ids.all(sqlOn(pool), termsQuery(projectId, wanted, RARE_MAX + 1));
    return found.length > RARE_MAX ? null : found.map(({ id }) => id);
  };

  const withTerms = async (
    projectId: string,
    wanted: Terms,
  ): Promise<Prisma.OperationWhereInput> => {
    if (wanted.terms.length + wanted.oneOf.length === 0) return {};
    const matched = await idsByTerms(projectId, wanted);
    if (matched !== null) return { id: { in: matched } };
    const any = wanted.oneOf.map((group) => ({ searchTerms: { hasSome: [...group] } }));
    return { AND: [{ searchTerms: { hasEvery: [...wanted.terms] } }, ...any] };
  };

  /**
   * The ids of the operations that match a search by id or by hash. Null for a search by a term.
   */
  const idsOf = async (
    projectId: string,
    search: Search | null,
  ): Promise<readonly string[] | null> => {
    if (search?.by === "id") return [search.id];
    return search?.by === "hash" ? idsByHash({ prisma, pool }, projectId, search.hash) : null;
  };

  const byText = async (
    { projectId, filter }: OperationPage,
    { search, ids: wantedIds, terms, oneOf: groups }: Wanted,
  ): Promise<Prisma.OperationWhereInput> => {
    const all = search?.by === "term" ? [...terms, search.term] : terms;
    const matched = await withTerms(projectId, { terms: all, oneOf: groups });
    return {
      AND: [
        wantedIds === null ? {} : { id: { in: [...wantedIds] } },
        matched,
        columnsOf(filter),
      ],
    };
  };

  return {
    /** SQL: whether an operation `o` belongs to the list with this filter. */
    condition: async (projectId: string, filter: OperationFilter): Promise<Statement> => {
      const search = filter.q === undefined ? null : readSearch(filter.q);
      const [named, { terms, oneOf: groups }] = [
        await idsOf(projectId, search),
        termsOf(filter),
      ];
      const conditions = [
        sql`o.project_id = ${projectId}`,
        ...columnConditions(filter),
        // Without terms this condition would be true for every row, but the planner would expect
        // few rows. So the condition is left out.
        ...(terms.length === 0 ? [] : [sql`o.search_terms @> ${terms}::text[]`]),
        ...groups.map((group) => sql`o.search_terms && ${group}::text[]`),
        ...(named === null ? [] : [sql`o.id = ANY (${named}::text[])`]),
        ...(filter.tag === undefined ? [] : [isAnnotated(projectId, hasTag("a", filter.tag))]),
      ];
      if (search?.by === "term" && filter.q !== undefined) {
        const noted = isAnnotated(projectId, hasNote("a", patternOf(filter.q)));
        conditions.push(sql`(${noted} OR o.search_terms @> ARRAY[${search.term}::text])`);
      }
      return join(conditions, " AND ");
    },

    byIds: async (projectId: string, operationIds: readonly string[]): Promise<Operation[]> => {
      const rows = await prisma.operation.findMany({
        where: { projectId, id: { in: [...operationIds] } },
        include: includeOf(projectId),
      });
      return rows.map(parseOperation);
    },

    page: async (asked: OperationPage): Promise<Operation[]> => {
      const { projectId, filter, before, limit } = asked;
      const search = filter.q === undefined ? null : readSearch(filter.q);
      const wanted = { search, ...termsOf(filter), ids: await idsOf(projectId, search) };
      const byNote = await noted({ projectId, filter, before, limit, ...wanted });
      const matching = filter.tag === undefined ? [await byText(asked, wanted)] : [];
      // Without a search of annotations, AND is used, because Prisma treats an empty condition
      // inside OR as false.
      const where =
        byNote === null ? { AND: matching } : { OR: [{ id: { in: byNote } }, ...matching] };
      const rows = await prisma.operation.findMany({
        where: { projectId, ...where, ...(before === undefined ? {} : { id: { lt: before } }) },
        orderBy: { id: "desc" },
        take: limit,
        include: includeOf(projectId),
      });
      return rows.map(parseOperation);
    },
  };
};

export type OperationListRepository = ReturnType<typeof createOperationListRepository>;

const arrivals = table({ owner: text, chainId: int, token: text, amountBase: base });

/**
 * The amounts that operations of the project will bring to addresses, including external ones. Only
 * amounts that the balances at the blocks of `at` do not include are counted. The minimum of a leg
 * counts for the recipient until a block of the balances includes its arrival. When a leg is being
 * refunded, the deposited amount counts for the leg's source. A refund that needs a person's
 * decision is not counted, because the balance may include it already.
 */
export const arrivalsOf = (
  db: SqlReader,
  projectId: string,
  at: readonly { readonly chainId: number; readonly blockNumber: bigint }[],
): Promise<Arrival[]> =>
  arrivals.all(
    db,
    sql`
      WITH read AS (
        SELECT * FROM unnest(
          ${at.map(({ chainId }) => chainId)}::int[],
          ${at.map(({ blockNumber }) => blockNumber.toString())}::numeric[]
        ) AS chain (chain_id, block)
      ),
      moving AS (
        SELECT o.request->'destination' AS destination, l.*
        FROM operation o
        JOIN operation_leg l ON l.project_id = o.project_id AND l.operation_id = o.id
        WHERE o.project_id = ${projectId}
          AND o.status = 'processing'
          AND l.state IN (
            'submitted', 'source_seen', 'bridging', 'filled_seen', 'refunding', 'refund_seen'
          )
      ),
      coming AS (
        SELECT
          m.destination->>'recipient' AS owner,
          m.dest_chain_id AS chain_id,
          m.destination->'token'->>'address' AS token,
          coalesce(m.received_base, (m.route_leg->>'minOutBase')::numeric) AS amount
        FROM moving m
        JOIN read ON read.chain_id = m.dest_chain_id
        WHERE m.state IN ('submitted', 'bridging')
          OR (m.state = 'source_seen' AND m.source_block > read.block)
          OR (m.state = 'filled_seen' AND m.dest_block > read.block)
        UNION ALL
        SELECT
          m.wallet_address,
          m.source_chain_id,
          coalesce(
            m.refund_token->>'address',
            nullif(step->'from'->>'address', 'native'),
            'wrapped'
          ),
          coalesce(m.refunded_base, m.deposited_base)
        FROM moving m
        JOIN read ON read.chain_id = m.source_chain_id
        CROSS JOIN LATERAL jsonb_path_query_first(
          m.route_leg, '$.steps[*] ? (@.kind == "bridge")'
        ) AS step
        WHERE m.state = 'refunding'
          OR (m.state = 'refund_seen' AND m.refund_block > read.block)
      )
      SELECT ${arrivals.columns("summed")}
      FROM (
        SELECT owner, chain_id, lower(token) AS token, sum(amount) AS amount_base
        FROM coming
        GROUP BY owner, chain_id, lower(token)
        HAVING sum(amount) IS NOT NULL
      ) AS summed`,
  );
