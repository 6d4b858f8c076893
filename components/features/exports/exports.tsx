"use client";

import {
  CircleCheck,
  CircleX,
  Clock,
  FileClock,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Actor } from "@/components/features/names/names";
import { PagedCard } from "@/components/features/session/paged-card";
import { useApi } from "@/components/features/session/use-api";
import { Badge, type Tone } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { PageHeader } from "@/components/ui/page-header";
import { FileButton } from "@/components/ui/save-file";
import { EmptyState } from "@/components/ui/states";
import { type Column, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { useLocale } from "@/components/ui/use-locale";
import { downloadExport, listExports } from "@/lib/api-client/calls.gen";
import { countText } from "@/lib/core/amount-text";
import { exportFileName } from "@/lib/core/export-file-name";
import { type ExportFile, useExports } from "./use-exports";

const MONEY = "No money is touched: files only show what is recorded.";

const KIND_WORDS = {
  activity: "Activity",
  operations: "Operations",
  payout_items: "Rows of a payout",
  account_statement: "Statement of an account",
  reserve_statement: "Statement of a reserve",
  audit_log: "Audit log",
} as const satisfies Record<ExportFile["kind"], string>;

const FORMAT_WORDS = { csv: "CSV", camt053: "camt.053" } as const;

interface StateLook {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly label: string;
}

const STATE_LOOKS = {
  queued: { tone: "neutral", icon: Clock, label: "Queued" },
  running: { tone: "info", icon: LoaderCircle, label: "Writing" },
  ready: { tone: "success", icon: CircleCheck, label: "Ready" },
  failed: { tone: "danger", icon: CircleX, label: "Failed" },
  expired: { tone: "neutral", icon: FileClock, label: "Expired" },
} as const satisfies Record<ExportFile["state"], StateLook>;

const State = ({ file }: { readonly file: ExportFile }): ReactNode => {
  const { tone, icon, label } = STATE_LOOKS[file.state];
  return (
    <Badge tone={tone} icon={icon} title={file.failure ?? undefined}>
      {label}
    </Badge>
  );
};

const DownloadFile = ({ file }: { readonly file: ExportFile }): ReactNode => {
  const api = useApi();
  const { id, format } = file;
  return (
    <FileButton
      size="sm"
      make={async () => ({
        text: await api.call(downloadExport, { params: { id } }),
        name: exportFileName(file),
        mediaType: format === "csv" ? "text/csv" : "application/xml",
      })}
    >
      Download
    </FileButton>
  );
};

const Records = ({ count }: { readonly count: number }): ReactNode => {
  const locale = useLocale();
  return <span className="num">{countText(count, locale)}</span>;
};

const COLUMNS: readonly Column<ExportFile>[] = [
  {
    id: "what",
    header: "File",
    phone: "title",
    grow: true,
    cell: (file) => `${KIND_WORDS[file.kind]}, ${FORMAT_WORDS[file.format]}`,
  },
  { id: "state", header: "State", bare: true, cell: (file) => <State file={file} /> },
  {
    id: "rows",
    header: "Records",
    align: "right",
    cell: ({ rows }) => <Records count={rows} />,
  },
  {
    id: "by",
    header: "Made by",
    priority: "low",
    phone: "hidden",
    cell: ({ createdBy }) => <Actor id={createdBy} />,
  },
  {
    id: "made",
    header: "Made",
    priority: "medium",
    cell: ({ createdAt }) => <Time value={createdAt} />,
  },
  {
    id: "until",
    header: "Kept until",
    priority: "low",
    phone: "hidden",
    cell: ({ expiresAt }) => <Time value={expiresAt} absolute />,
  },
  {
    id: "file",
    header: <span className="sr-only">Download</span>,
    align: "right",
    phone: "aside",
    cell: (file) => (file.state === "ready" ? <DownloadFile file={file} /> : null),
  },
];

export const Exports = (): ReactNode => {
  const list = useExports();
  return (
    <>
      <PageHeader
        title="Exports"
        description="Files that are written in the background. Each is kept for 7 days, for everybody who may read what it holds."
        actions={
          <Link href="/activity" className={buttonLooks()}>
            Activity
          </Link>
        }
      />
      <div className="flex flex-col gap-4">
        <PagedCard
          list={list}
          what="exports"
          money={MONEY}
          empty={
            <EmptyState icon={FileClock} title="No exports yet">
              Choose “In the background” beside Export CSV on{" "}
              <Link className="link" href="/activity">
                Activity
              </Link>{" "}
              or on the audit log.
            </EmptyState>
          }
        >
          {(files) => (
            <Table caption="Exports" columns={COLUMNS} rows={files} rowKey={({ id }) => id} />
          )}
        </PagedCard>
        <ApiSnippet call={listExports} />
      </div>
    </>
  );
};
