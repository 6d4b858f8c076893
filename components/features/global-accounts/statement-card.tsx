"use client";

import { ScrollText } from "lucide-react";
import { parseAsString, parseAsStringLiteral, useQueryStates } from "nuqs";
import { useState, type ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { HeldAmount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { exportStatement, exportStatementCamt, getStatement } from "@/lib/api-client/calls.gen";
import type { Account, Statement } from "./account";
import { useEntryColumns } from "./entries-card";
import { StatementDownloads } from "./statement-downloads";
import {
  type PeriodKind,
  periodOf,
  PERIODS,
  statementPdf,
  type StatementPeriod,
} from "./statement";

const PERIOD_WORDS = {
  "this-month": "This month",
  "last-month": "Last month",
  custom: "Other days",
} as const satisfies Record<PeriodKind, string>;

const usePeriod = () =>
  useQueryStates(
    {
      period: parseAsStringLiteral(PERIODS).withDefault("this-month"),
      from: parseAsString,
      to: parseAsString,
    },
    { history: "replace" },
  );

export const StatementCard = ({ account }: { readonly account: Account }): ReactNode => {
  const [{ period: kind, from, to }, setPeriod] = usePeriod();
  const [now] = useState(() => new Date());
  const period = periodOf(kind, { from, to }, now);
  return (
    <Card flush>
      <div className="flex flex-wrap items-end gap-3 border-b px-4 py-3">
        <Field label="Period (UTC)" className="w-40">
          <Select
            value={kind}
            onValueChange={(next) =>
              void setPeriod({ period: PERIODS.find((one) => one === next) ?? null })
            }
            options={PERIODS.map((value) => ({ value, label: PERIOD_WORDS[value] }))}
          />
        </Field>
        {kind === "custom" ? (
          <>
            <DayField
              label="First day"
              value={from}
              onChange={(day) => void setPeriod({ from: day })}
            />
            <DayField
              label="Last day"
              value={to}
              onChange={(day) => void setPeriod({ to: day })}
            />
          </>
        ) : null}
        <span className="ml-auto flex flex-wrap gap-2">
          {period === null ? null : <Downloads account={account} period={period} />}
        </span>
      </div>
      {period === null ? (
        <EmptyState icon={ScrollText} title="Choose the first and the last day">
          The last day may not come before the first.
        </EmptyState>
      ) : (
        <Loaded account={account} period={period} />
      )}
    </Card>
  );
};

interface DayFieldProps {
  readonly label: string;
  readonly value: string | null;
  readonly onChange: (day: string | null) => void;
}

const DayField = ({ label, value, onChange }: DayFieldProps): ReactNode => (
  <Field label={label} className="w-40">
    <Input
      type="date"
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value === "" ? null : event.target.value)}
    />
  </Field>
);

interface PartProps {
  readonly account: Account;
  readonly period: StatementPeriod;
}

const useStatement = ({ account, period }: PartProps) =>
  useQuery(apiQuery(getStatement, { params: { id: account.id }, query: period }));

const Downloads = ({ account, period }: PartProps): ReactNode => {
  const api = useApi();
  const options = { params: { id: account.id }, query: period };
  return (
    <StatementDownloads
      name={`statement-${account.id}-${period.from?.slice(0, 10) ?? ""}`}
      csv={() => api.call(exportStatement, options)}
      camt053={() => api.call(exportStatementCamt, options)}
      pdf={async () => statementPdf(await api.call(getStatement, options), new Date())}
    />
  );
};

const Loaded = (props: PartProps): ReactNode => {
  const query = useStatement(props);
  return (
    <QueryContent
      query={query}
      what="the statement"
      rows={8}
      money="The money in the account is untouched."
    >
      {(statement) => <StatementView key={statement.from} statement={statement} />}
    </QueryContent>
  );
};

const ENTRIES_SHOWN = 100;

const StatementView = ({ statement }: { readonly statement: Statement }): ReactNode => {
  const columns = useEntryColumns(statement.account.currency);
  const [shown, setShown] = useState(ENTRIES_SHOWN);
  const { account, entries } = statement;
  const amount = (value: string): ReactNode => (
    <HeldAmount value={value} unit={account.currency} />
  );
  return (
    <>
      <Facts className="px-4">
        <Fact label="Period">
          <Time value={statement.from} absolute /> to <Time value={statement.to} absolute />
        </Fact>
        <Fact label="Opening balance">{amount(statement.opening)}</Fact>
      </Facts>
      <div className="border-y">
        {entries.length === 0 ? (
          <EmptyState title="No entries in this period" />
        ) : (
          <Table
            caption="Entries of the statement, oldest first"
            columns={columns}
            rows={entries.slice(0, shown)}
            rowKey={(entry) => String(entry.seq)}
          />
        )}
        {shown < entries.length ? (
          <div className="flex justify-center border-t py-2">
            <Button size="sm" onClick={() => setShown(shown + ENTRIES_SHOWN)}>
              Show more ({entries.length - shown} left)
            </Button>
          </div>
        ) : null}
      </div>
      {statement.truncated ? (
        <Alert tone="warning" title="More entries than fit here" className="m-4">
          These are the first {entries.length} of the period; the sums are of all. The CSV file
          has every entry.
        </Alert>
      ) : null}
      <Facts className="px-4">
        <Fact label="In">{amount(statement.in)}</Fact>
        <Fact label="Out">{amount(statement.out)}</Fact>
        <Fact label="Closing balance" strong>
          {amount(statement.closing)}
        </Fact>
      </Facts>
    </>
  );
};
