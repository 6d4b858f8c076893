/** Operations that a list finds by the memos and tags that people gave them. */
import type { Database } from "@/lib/db/client";
import { sqlOn } from "@/lib/db/sql";
import { hasNote, hasTag, patternOf } from "@/lib/modules/annotations/service";
import type { OperationFilter } from "./operation-filter";
import { PRIVATE_KINDS } from "./private-kinds";
import type { Search } from "./search";

/** Conditions on the terms of an operation. */
export interface Terms {
  /** Each operation must have all of these. */
  readonly terms: readonly string[];
  /** And at least one of each list. */
  readonly oneOf: readonly (readonly string[])[];
}

export interface Wanted extends Terms {
  readonly search: Search | null;
  /** Only these operations; null: all. */
  readonly ids: readonly string[] | null;
}

interface NotedPage extends Wanted {
  readonly projectId: string;
  readonly filter: OperationFilter;
  /** Only operations with a smaller id, which are older. */
  readonly before: string | undefined;
  readonly limit: number;
}

// Walks along the annotations of one project, the newest operation first, and stops when the page is full. All conditions are part of the
// walk, so however many operations have the tag, none that the filter wants is left out.
const NOTED = `
  SELECT o.id FROM annotation a JOIN operation o ON o.id = a.subject_id AND o.project_id = a.project_id
  WHERE a.project_id = $1 AND a.subject_type = 'operation'
    AND ($2::text IS NULL OR a.subject_id < $2)
    AND ($3::text IS NULL OR ${hasTag("a", "$3")})
    AND ($4::text IS NULL OR ${hasNote("a", "$4")} OR o.search_terms @> ARRAY[$5::text])
    AND ($6::text[] IS NULL OR o.id = ANY ($6))
    AND o.search_terms @> $7::text[]
    AND ($8::text[] IS NULL OR o.status = ANY ($8))
    AND ($9::text[] IS NULL OR o.kind = ANY ($9))
    AND o.kind <> ALL ($10::text[])
    AND ($11::timestamptz IS NULL OR o.created_at >= $11)
    AND ($12::timestamptz IS NULL OR o.created_at < $12)
    AND ($14::text IS NULL OR o.sub_status = $14)
    AND ($15::text[] IS NULL OR o.search_terms && $15)
    AND ($16::text[] IS NULL OR o.search_terms && $16)
  ORDER BY a.subject_id DESC LIMIT $13::int`;

const listed = <T extends string>(wanted: T | readonly T[] | undefined): readonly T[] | null =>
  wanted === undefined ? null : typeof wanted === "string" ? [wanted] : wanted;

/** @returns ids, the newest first; null for a list without a tag and without a search that a memo may match */
export const createNotedRepository = ({ pool }: Pick<Database, "pool">) => {
  const sql = sqlOn(pool);
  return async ({
    projectId,
    filter,
    search,
    ids,
    terms,
    oneOf,
    before,
    limit,
  }: NotedPage): Promise<string[] | null> => {
    const { q, tag } = filter;
    const isText = search?.by === "term" && q !== undefined;
    if (tag === undefined && !isText) return null;
    const rows = await sql.query<{ id: string }>(NOTED, [
      projectId,
      before ?? null,
      tag ?? null,
      isText ? patternOf(q) : null,
      // Without a tag, operations that the term finds need no annotation, so another query looks for them.
      isText && tag !== undefined ? search.term : null,
      ids,
      terms,
      listed(filter.status),
      listed(filter.kind),
      filter.hidesPrivate === true ? PRIVATE_KINDS : [],
      filter.from ?? null,
      filter.to ?? null,
      limit,
      filter.subStatus ?? null,
      // Chains and wallets.
      oneOf[0] ?? null,
      oneOf[1] ?? null,
    ]);
    return rows.map(({ id }) => id);
  };
};
