"use client";

import { Ban, CircleCheck, CircleX, ScrollText, type LucideIcon } from "lucide-react";
import Link from "next/link";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { spanOf } from "@/components/features/operations/filter-model";
import { apiQuery } from "@/components/features/session/api-query";
import { PublicId } from "@/components/ui/address";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { DayInput, Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { FilterSelect } from "@/components/ui/select";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { type Column, Pager, RowName, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listApiKeyRequests } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { useApiKeys } from "./use-api-keys";

const PAGE = 50;
const REFRESH_MS = 5000;
const DIGEST_SHOWN = 12;

type Request = ResponseOf<typeof listApiKeyRequests>["data"][number];

const OUTCOMES = ["succeeded", "refused", "failed"] as const;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const OUTCOME_OPTIONS = [
  { value: "succeeded", label: "Succeeded" },
  { value: "refused", label: "Refused (4xx)" },
  { value: "failed", label: "Failed (5xx)" },
] as const;
const METHOD_OPTIONS = METHODS.map((method) => ({ value: method, label: method }));

const looksOf = (status: number): { tone: Tone; icon: LucideIcon } => {
  if (status >= 500) return { tone: "danger", icon: CircleX };
  if (status >= 400) return { tone: "warning", icon: Ban };
  return { tone: "success", icon: CircleCheck };
};

const Answer = ({ status, code }: Request): ReactNode => (
  <Badge {...looksOf(status)}>
    {code === null ? String(status) : `${String(status)} ${code}`}
  </Badge>
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
      <RowName className="font-mono text-sm font-normal">{`${method} ${path}`}</RowName>
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
    priority: "lowest",
    cell: ({ bodySha256 }) => <Digest value={bodySha256} />,
  },
  {
    id: "id",
    header: "Request id",
    phone: "hidden",
    priority: "low",
    cell: ({ id }) => <PublicId value={id} />,
  },
  {
    id: "at",
    header: "When",
    align: "right",
    bare: true,
    cell: ({ at }) => <Time value={at} />,
  },
];

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
      <FilterSelect
        label="Which answers"
        className="w-40"
        all="All answers"
        options={OUTCOME_OPTIONS}
        value={outcome}
        onValueChange={(next) => void set({ outcome: next, cursor: null })}
      />
      <FilterSelect
        label="Which methods"
        className="w-40"
        all="All methods"
        options={METHOD_OPTIONS}
        value={method}
        onValueChange={(next) => void set({ method: next, cursor: null })}
      />
      <Field label="Day">
        <DayInput value={day} onChange={(next) => void set({ day: next, cursor: null })} />
      </Field>
    </div>
  );
};

export const KeyRequests = ({ keyId }: { readonly keyId: string }): ReactNode => {
  const [{ outcome, method, day, cursor }, set] = useFilters();
  const query = {
    limit: PAGE,
    ...spanOf(day),
    outcome: outcome ?? undefined,
    method: method ?? undefined,
    cursor: cursor ?? undefined,
  };
  const options = { params: { id: keyId }, query };
  const requests = useQuery({
    ...apiQuery(listApiKeyRequests, options),
    refetchInterval: REFRESH_MS,
  });
  const name = useApiKeys().data?.data.find(({ id }) => id === keyId)?.name;
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
          <QueryContent
            query={requests}
            what="requests"
            money="The key still works; only this list could not be read."
            empty={
              <EmptyState
                icon={ScrollText}
                title={isFiltered ? "No such requests" : "No requests yet"}
              >
                {isFiltered
                  ? "Choose other answers, methods or days."
                  : "A request appears here about a second after its answer. Requests of a wrong secret are not listed."}
              </EmptyState>
            }
          >
            {({ data }) => (
              <Table caption="Requests" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
            )}
          </QueryContent>
          <Pager
            cursor={cursor}
            nextCursor={requests.data?.nextCursor}
            onCursor={(next) => void set({ cursor: next })}
          />
        </Card>
        <ApiSnippet call={listApiKeyRequests} params={{ id: keyId }} auth="bearer" />
      </div>
    </>
  );
};
