import { toStatementCsv } from "@/lib/books/global-accounts/serializer";
import type { BookStatement, GlobalAccountsService } from "@/lib/books/global-accounts/service";
import { EXPORT_FILTERS } from "@/lib/contracts/exports";
import type { Actor, UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { permissionGuard } from "@/lib/core/permissions";
import { tracedService } from "@/lib/core/tracing";
import { activityCsv } from "@/lib/money/activity/serializer";
import type { ActivityService } from "@/lib/money/activity/service";
import { createAnnotationReads } from "@/lib/money/annotations/service";
import { toDeposit } from "@/lib/money/deposits/serializer";
import type { DepositsService } from "@/lib/money/deposits/service";
import {
  createExportRunner,
  createExportsService,
  type ExportPage,
  type ExportRequest,
  type ExportSource,
  type ExportSources,
  pageText,
} from "@/lib/money/exports/service";
import { operationsCsv } from "@/lib/money/operations/serializer";
import type { OperationsService } from "@/lib/money/operations/service";
import { itemsCsv } from "@/lib/money/payouts/serializer";
import type { PayoutsService } from "@/lib/money/payouts/service";
import { auditCsv } from "@/lib/news/audit/serializer";
import { createAuditService } from "@/lib/news/audit/service";
import * as rights from "./caller-rights";
import type { Identity } from "./identity";
import type { Platform } from "./platform";

const PAGE = 500;
const CSV_ONLY = ["csv"] as const;

interface Books {
  readonly activity: ActivityService;
  readonly operations: OperationsService;
  readonly deposits: Pick<DepositsService, "ofOperations">;
  readonly payouts: PayoutsService;
  readonly globalAccounts: GlobalAccountsService;
}

const each = async function* <T>(rows: readonly T[]): AsyncGenerator<T> {
  yield* await Promise.resolve(rows);
};

const csvPage = async (
  rows: readonly unknown[],
  parts: AsyncIterable<string>,
  place: { readonly cursor: string | null; readonly next: string | null },
): Promise<ExportPage> => ({
  text: await pageText(parts, { isFirst: place.cursor === null, isLast: place.next === null }),
  rows: rows.length,
  next: place.next,
});

const pageOf = (cursor: string | null) => ({ cursor: cursor ?? undefined, limit: PAGE });

const activitySource = ({ activity }: Books): ExportSource => ({
  formats: CSV_ONLY,
  page: async ({ actor, filters }, cursor) => {
    const query = EXPORT_FILTERS.activity.parse(filters);
    const { data, nextCursor } = await activity.list(actor, { ...query, ...pageOf(cursor) });
    return csvPage(data, activityCsv(each(data)), { cursor, next: nextCursor });
  },
});

const operationsSource = (
  { operations, deposits }: Books,
  { database, registry }: Pick<Platform, "database" | "registry">,
): ExportSource => {
  const annotations = createAnnotationReads({ database });
  return {
    formats: CSV_ONLY,
    page: async ({ actor, filters }, cursor) => {
      const { projectId } = actor;
      const query = EXPORT_FILTERS.operations.parse(filters);
      const asked = { ...query, ...pageOf(cursor) };
      const { data, nextCursor } = await operations.listFor(actor, asked);
      const notes = await annotations.of(
        projectId,
        data.map(({ id }) => id),
      );
      const rows = data.map((operation) => ({
        operation,
        annotation: notes.get(operation.id) ?? null,
      }));
      const csv = operationsCsv(each(rows), registry, async (some) => {
        const views = await deposits.ofOperations(projectId, some);
        return new Map([...views].map(([id, view]) => [id, toDeposit(view, registry)]));
      });
      return csvPage(rows, csv, { cursor, next: nextCursor });
    },
  };
};

const payoutSource = ({ payouts }: Books): ExportSource => ({
  formats: CSV_ONLY,
  page: async ({ actor: { projectId }, filters }, cursor) => {
    const { payoutId, status } = EXPORT_FILTERS.payout_items.parse(filters);
    const view = await payouts.get(projectId, payoutId);
    const asked = { ...pageOf(cursor), status };
    const { nextCursor, ...found } = await payouts.items(projectId, payoutId, asked);
    return csvPage(found.rows, itemsCsv(view, each([found])), { cursor, next: nextCursor });
  },
});

const requirePerson = (actor: Actor): UserActor => {
  if (actor.type === "user") return actor;
  throw new DomainError("forbidden", "Only people may read the audit log.");
};

const auditSource = ({ database }: Pick<Platform, "database">): ExportSource => {
  const audit = createAuditService({ database });
  return {
    formats: CSV_ONLY,
    page: async ({ actor, filters }, cursor) => {
      const query = EXPORT_FILTERS.audit_log.parse(filters);
      const asked = { ...query, ...pageOf(cursor) };
      const { data, nextCursor } = await audit.list(requirePerson(actor), asked);
      return csvPage(data, auditCsv(each(data)), { cursor, next: nextCursor });
    },
  };
};

const ENTRIES_PAGE = 1000n;

/**
 * Parses a cursor: the number of the next entry, the number after the last entry, and the closing
 * balance.
 */
const positionOf = (cursor: string): readonly [next: bigint, end: bigint, closing: bigint] => {
  const [next = 0n, end = 0n, closing = 0n] = cursor.split(" ").map(BigInt);
  return [next, end, closing];
};

/**
 * Uses the end of the statement that the first part has stored in the cursor, even if further
 * entries were committed since.
 */
const atCursor = <S extends BookStatement>(statement: S, cursor: string | null): S => {
  if (cursor === null) return statement;
  const [firstSeq, endSeq, closingBase] = positionOf(cursor);
  return { ...statement, firstSeq, endSeq, closingBase };
};

const statementSource = (
  { globalAccounts }: Books,
  read: (request: ExportRequest) => Promise<BookStatement>,
): ExportSource => ({
  formats: ["csv", "camt053"],
  page: async (request, cursor) => {
    const statement = atCursor(await read(request), cursor);
    const { firstSeq, endSeq, closingBase } = statement;
    const end = firstSeq + ENTRIES_PAGE < endSeq ? firstSeq + ENTRIES_PAGE : endSeq;
    const entries =
      firstSeq === end ? [] : await globalAccounts.firstEntries({ ...statement, endSeq: end });
    // The first part contains the head of the file, which shows the whole period. Later parts
    // contain only their entries, so their statement ends with these entries.
    const shown = cursor === null ? statement : { ...statement, endSeq: end };
    const file =
      request.format === "csv"
        ? toStatementCsv(shown, each(entries))
        : await globalAccounts.camt053(shown, each(entries));
    const isLast = end === endSeq;
    const page = { isFirst: cursor === null, isLast, endParts: 1 };
    return {
      text: await pageText(file, page),
      rows: entries.length,
      next: isLast ? null : [end, endSeq, closingBase].join(" "),
    };
  },
});

const sourcesOf = (
  books: Books,
  platform: Pick<Platform, "database" | "registry">,
): ExportSources => ({
  activity: activitySource(books),
  operations: operationsSource(books, platform),
  payout_items: payoutSource(books),
  account_statement: statementSource(books, ({ actor: { projectId }, filters }) => {
    const { accountId, ...period } = EXPORT_FILTERS.account_statement.parse(filters);
    return books.globalAccounts.statement(projectId, accountId, period);
  }),
  reserve_statement: statementSource(books, ({ actor: { projectId }, filters }) => {
    const { currency, ...period } = EXPORT_FILTERS.reserve_statement.parse(filters);
    return books.globalAccounts.reserveStatement(projectId, currency, period);
  }),
  audit_log: auditSource(platform),
});

export const buildExports = (
  { database, registry, config, clock }: Platform,
  { projects, mailOutbox }: Pick<Identity, "projects" | "mailOutbox">,
  books: Books,
) => {
  const sources = sourcesOf(books, { database, registry });
  const service = createExportsService({ database, sources, clock });
  return {
    exports: tracedService("exports", permissionGuard(service, rights.EXPORTS)),
    exportRunner: createExportRunner({
      database,
      sources,
      roleOf: async (userId, projectId) => (await projects.resolve(userId, projectId)).role,
      outbox: mailOutbox,
      publicUrl: config.publicUrl,
      clock,
    }),
  };
};
