"use client";

import { Ban, CircleCheck, CircleX, ScrollText, type LucideIcon } from "lucide-react";
import Link from "next/link";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { isDay } from "@/components/features/operations/filter-model";
import { useApiQuery } from "@/components/features/session/use-api";
import { PublicId } from "@/components/ui/address";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { CopyButton } from "@/components/ui/copy-button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Pager } from "@/components/ui/pager";
import { Select } from "@/components/ui/select";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listApiKeyRequests, listApiKeys } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

const PAGE = 50;
const REFRESH_MS = 5000;
const DAY_MS = 86_400_000;
const DIGEST_SHOWN = 12;
const ALL = "all";

type Request = ResponseOf<typeof listApiKeyRequests>["data"][number];

const OUTCOMES = ["succeeded", "refused", "failed"] as const;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const OUTCOME_OPTIONS = [
  { value: ALL, label: "All answers" },
  { value: "succeeded", label: "Succeeded" },
  { value: "refused", label: "Refused (4xx)" },
  { value: "failed", label: "Failed (5xx)" },
];
const METHOD_OPTIONS = [
  { value: ALL, label: "All methods" },
  ...METHODS.map((method) => ({ value: method, label: method })),
];

const looksOf = (status: number): { tone: Tone; icon: LucideIcon } => {
  if (status >= 500) return { tone: "danger", icon: CircleX };
  if (status >= 400) return { tone: "warning", icon: Ban };
  return { tone: "success", icon: CircleCheck };
};

const Answer = ({ status, code }: Request): ReactNode => (
  <Badge {...looksOf(status)}>{code === null ? String(status) : `${String(status)} ${code}`}</Badge>
);

const Digest = ({ value }: { readonly value: string | null }): ReactNode =>
  value === null ? (
    <span title="The request has no body, or was refused before its body was read">–</span>
  ) : (
    <span className="inline-flex items-center gap-1">
      <code className="font-mono text-sm" title={value}>
        {value.slice(0, DIGEST_SHOWN)}…
      </code>
      <CopyButton value={value} label="SHA-256 of the body" />
    </span>
  );

const COLUMNS: readonly Column<Request>[] = [
  {
    id: "path",
    header: "Request",
    phone: "title",
    cell: ({ method, path }) => (
      <code className="font-mono text-sm wrap-anywhere">
        {method} {path}
      </code>
    ),
  },
  { id: "answer", header: "Answer", phone: "aside", cell: Answer },
  {
    id: "duration",
    header: "Took",
    align: "right",
    phone: "hidden",
    priority: "low",
    cell: ({ durationMs }) => <span className="num">{durationMs.toFixed(1)} ms</span>,
  },
  {
    id: "from",
    header: "From",
    cell: ({ clientAddress }) => <span className="num">{clientAddress ?? "–"}</span>,
  },
  {
    id: "digest",
    header: "SHA-256 of the body",
    phone: "hidden",
    priority: "low",
    className: "max-xl:hidden",
    cell: ({ bodySha256 }) => <Digest value={bodySha256} />,
  },
  {
    id: "id",
    header: "Request id",
    phone: "hidden",
    priority: "low",
    className: "max-lg:hidden",
    cell: ({ id }) => <PublicId value={id} />,
  },
  { id: "at", header: "When", align: "right", bare: true, cell: ({ at }) => <Time value={at} /> },
];

/** The whole of a day, in the reader's own time zone. */
const spanOf = (day: string | null): { from?: string; to?: string } => {
  if (day === null || !isDay(day)) return {};
  const start = new Date(`${day}T00:00:00`);
  return { from: start.toISOString(), to: new Date(start.getTime() + DAY_MS).toISOString() };
};

const useFilters = () =>
  useQueryStates(
    {
      outcome: parseAsStringLiteral(OUTCOMES),
      method: parseAsStringLiteral(METHODS),
      day: parseAsString,
      cursor: parseAsString,
    },
    { history: "replace" },
  );

const Filters = (): ReactNode => {
  const [{ outcome, method, day }, set] = useFilters();
  return (
    <div className="flex flex-wrap items-end gap-2 border-b px-4 py-3">
      <Select
        label="Which answers"
        className="w-40"
        options={OUTCOME_OPTIONS}
        value={outcome ?? ALL}
        onValueChange={(value) => void set({ outcome: OUTCOMES.find((one) => one === value) ?? null, cursor: null })}
      />
      <Select
        label="Which methods"
        className="w-40"
        options={METHOD_OPTIONS}
        value={method ?? ALL}
        onValueChange={(value) => void set({ method: METHODS.find((one) => one === value) ?? null, cursor: null })}
      />
      <Field label="Day">
        <Input
          type="date"
          value={day ?? ""}
          onChange={({ target }) => void set({ day: target.value === "" ? null : target.value, cursor: null })}
        />
      </Field>
    </div>
  );
};

/** The requests that one API key has made, each with its outcome. */
export const KeyRequests = ({ keyId }: { readonly keyId: string }): ReactNode => {
  const [{ outcome, method, day, cursor }, set] = useFilters();
  const query = {
    ...{ limit: PAGE, ...spanOf(day) },
    ...(outcome === null ? {} : { outcome }),
    ...(method === null ? {} : { method }),
    ...(cursor === null ? {} : { cursor }),
  };
  const options = { params: { id: keyId }, query };
  const { data, error, isPending, refetch } = useApiQuery(listApiKeyRequests, options, {
    refetchIntervalMs: REFRESH_MS,
  });
  const name = useApiQuery(listApiKeys, {}).data?.data.find(({ id }) => id === keyId)?.name;
  const isFiltered = outcome !== null || method !== null || day !== null;
  return (
    <>
      <PageHeader
        title={name === undefined ? "Requests" : `Requests of ${name}`}
        description="Each request that this key made, about a second after its answer. Bodies are not kept, only their SHA-256."
        actions={
          <Button asChild>
            <Link href="/api-keys">All API keys</Link>
          </Button>
        }
      />
      <div className="flex flex-col gap-4">
        <Card flush>
          <Filters />
          {isPending ? (
            <LoadingRows what="requests" />
          ) : data === undefined ? (
            <ErrorState
              error={error}
              money="The key still works; only this list could not be read."
              onRetry={() => void refetch()}
            />
          ) : data.data.length === 0 ? (
            <EmptyState icon={ScrollText} title={isFiltered ? "No such requests" : "No requests yet"}>
              {isFiltered
                ? "Choose other answers, methods or days."
                : "A request appears here about a second after its answer. Requests of a wrong secret are not listed."}
            </EmptyState>
          ) : (
            <Table caption="Requests" columns={COLUMNS} rows={data.data} rowKey={({ id }) => id} />
          )}
          <Pager cursor={cursor} nextCursor={data?.nextCursor} onCursor={(next) => void set({ cursor: next })} />
        </Card>
        <ApiSnippet method="GET" path={`/auth/api-keys/${keyId}/requests`} auth="bearer" />
      </div>
    </>
  );
};
