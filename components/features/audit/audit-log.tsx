"use client";

import { useMutation } from "@tanstack/react-query";
import { Download, ScrollText } from "lucide-react";
import { parseAsString, useQueryStates } from "nuqs";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { isDay } from "@/components/features/operations/filter-model";
import { SearchField } from "@/components/features/operations/search-field";
import { useMay } from "@/components/features/projects/use-project";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { describeError } from "@/components/ui/describe-error";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Pager } from "@/components/ui/pager";
import { saveFile } from "@/components/ui/save-file";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { exportAuditLog, listAuditLog } from "@/lib/api-client/calls.gen";
import { actionWords } from "./action-words";
import { ActorName } from "./actor-name";
import { EntryDialog, type Entry } from "./entry-dialog";
import { Subject } from "./subject";
import { useNameInEntry, type NameInEntry } from "./use-name-in-entry";

const PAGE = 50;
const REFRESH_MS = 5000;

const columnsOf = (nameOf: NameInEntry, onOpen: (id: string) => void): readonly Column<Entry>[] => [
  {
    id: "action",
    header: "What",
    phone: "title",
    cell: ({ id, action }) => (
      <button type="button" className="row-link text-left font-medium" onClick={() => onOpen(id)}>
        {actionWords(action)}
      </button>
    ),
  },
  {
    id: "actor",
    header: "Who",
    bare: true,
    cell: ({ actor, actorName }) => <ActorName id={actor} name={nameOf(actor, actorName)} />,
  },
  {
    id: "subject",
    header: "On what",
    cell: ({ subject, subjectName }) => (subject === null ? "–" : <Subject id={subject} name={subjectName} />),
  },
  {
    id: "from",
    header: "From",
    phone: "hidden",
    priority: "medium",
    className: "max-lg:hidden",
    cell: ({ clientAddress }) => <span className="num">{clientAddress ?? "–"}</span>,
  },
  { id: "at", header: "When", align: "right", phone: "aside", cell: ({ createdAt }) => <Time value={createdAt} /> },
];

/** The query of the API for what the address of the page says. Days are the reader's own. */
const toQuery = ({ q, from, to }: { q: string | null; from: string | null; to: string | null }) => ({
  ...(q === null || q === "" ? {} : { text: q }),
  ...(from !== null && isDay(from) ? { from: new Date(`${from}T00:00:00`).toISOString() } : {}),
  ...(to !== null && isDay(to) ? { to: new Date(new Date(`${to}T00:00:00`).getTime() + DAY_MS).toISOString() } : {}),
});

const DAY_MS = 86_400_000;

/** Who did what in the project: for owners and admins. */
export const AuditLog = (): ReactNode => {
  const may = useMay("audit:read");
  const [state, set] = useQueryStates(
    { q: parseAsString, from: parseAsString, to: parseAsString, cursor: parseAsString, entry: parseAsString },
    { history: "replace" },
  );
  const filters = toQuery(state);
  const query = { ...filters, limit: PAGE, ...(state.cursor === null ? {} : { cursor: state.cursor }) };
  const { data, error, isPending, refetch } = useApiQuery(listAuditLog, { query }, { refetchIntervalMs: REFRESH_MS });
  const nameOf = useNameInEntry();
  const shown = data?.data.find(({ id }) => id === state.entry);
  const day = (name: "from" | "to", label: string): ReactNode => (
    <Field label={label}>
      <Input
        type="date"
        value={state[name] ?? ""}
        onChange={({ target }) => void set({ [name]: target.value === "" ? null : target.value, cursor: null })}
      />
    </Field>
  );
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every change, by whom and when. Entries are chained by hashes and never deleted."
        actions={may ? <ExportButton filters={filters} /> : null}
      />
      <Card flush title="Entries">
        <div className="flex flex-wrap items-end gap-2 border-b px-4 py-3">
          <SearchField
            value={state.q ?? ""}
            placeholder="Action, id, address, name or amount"
            onSettle={(q) => void set({ q: q === "" ? null : q, cursor: null })}
          />
          {day("from", "From")}
          {day("to", "To")}
        </div>
        {isPending ? (
          <LoadingRows what="the audit log" />
        ) : data === undefined ? (
          <ErrorState
            error={error}
            money="Nothing is lost: entries go on being recorded."
            onRetry={() => void refetch()}
          />
        ) : data.data.length === 0 ? (
          <EmptyState icon={ScrollText} title="No entries here">
            Search for something else, or choose other days.
          </EmptyState>
        ) : (
          <Table
            caption="Audit log"
            columns={columnsOf(nameOf, (entry) => void set({ entry }))}
            rows={data.data}
            rowKey={({ id }) => id}
          />
        )}
        <Pager cursor={state.cursor} nextCursor={data?.nextCursor} onCursor={(next) => void set({ cursor: next })} />
      </Card>
      {shown === undefined ? null : (
        <EntryDialog
          entry={shown}
          actorName={nameOf(shown.actor, shown.actorName)}
          onClose={() => void set({ entry: null })}
        />
      )}
    </>
  );
};

/** Everything that the filters let through, not only the page that is shown. */
const ExportButton = ({ filters }: { readonly filters: ReturnType<typeof toQuery> }): ReactNode => {
  const api = useApi();
  const { mutate, isPending } = useMutation({
    mutationFn: () => api.call(exportAuditLog, { query: filters }),
    onSuccess: (text) => saveFile(text, `causeway-audit-log-${new Date().toISOString().slice(0, 10)}.csv`),
    onError: (error) => toast.error(`The file could not be made. ${describeError(error).message}`),
  });
  return (
    <Button loading={isPending} onClick={() => mutate()}>
      {isPending ? null : <Download aria-hidden />} Export CSV
    </Button>
  );
};
