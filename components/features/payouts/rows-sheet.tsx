"use client";

import { ChevronLeft, ChevronRight, FileDown, FileUp, Plus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button, IconButton } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/field";
import { saveFile } from "@/components/ui/save-file";
import { Sheet } from "@/components/ui/sheet";
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payouts";
import { ImportDialog } from "./import-dialog";
import { PayoutRowFields } from "./payout-row";
import type { PayoutForm } from "./use-payout-form";

const ROWS_SHOWN = 50;
const TEMPLATE = "recipientAccountId,amount,reference\r\nga_01980000-0000-7000-8000-000000000000,12.5,Invoice 7\r\n";

const counted = (count: number, one: string, many: string): string =>
  count === 1 ? `1 ${one}` : `${count.toLocaleString("en")} ${many}`;

/** Who gets how much. Ten thousand rows stay quick, because one page of them is drawn. */
export const RowsSheet = ({ form }: { readonly form: PayoutForm }): ReactNode => {
  const [page, setPage] = useState(0);
  const [onlyProblems, setOnlyProblems] = useState(false);
  const [importing, setImporting] = useState(false);
  const narrowed = onlyProblems && form.problems.size > 0;
  const numbered = form.rows.map((row, index) => ({ row, index }));
  const listed = narrowed ? numbered.filter(({ row }) => form.problems.has(row.key)) : numbered;
  const pages = Math.max(1, Math.ceil(listed.length / ROWS_SHOWN));
  const at = Math.min(page, pages - 1);
  const shown = listed.slice(at * ROWS_SHOWN, (at + 1) * ROWS_SHOWN);
  return (
    <Sheet
      title="To"
      description={counted(form.filled, "row", "rows")}
      flush
      actions={
        <>
          <Button size="sm" variant="ghost" onClick={() => saveFile(TEMPLATE, "payout-template.csv")}>
            <FileDown aria-hidden /> Template
          </Button>
          <Button size="sm" onClick={() => setImporting(true)}>
            <FileUp aria-hidden /> From a CSV
          </Button>
        </>
      }
    >
      <Notices form={form} onlyProblems={narrowed} onOnlyProblems={setOnlyProblems} />
      <div className="divide-y">
        {shown.map(({ row, index }, position) => (
          <PayoutRowFields key={row.key} row={row} number={index + 1} first={position === 0} form={form} />
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-3 border-t px-4 py-2">
        <Button
          size="sm"
          disabled={form.rows.length >= PAYOUT_ROWS_MAX}
          onClick={() => {
            form.add();
            setOnlyProblems(false);
            setPage(Math.floor(form.rows.length / ROWS_SHOWN));
          }}
        >
          <Plus aria-hidden /> Add row
        </Button>
        {form.filled > 1 ? (
          <Button size="sm" variant="ghost" onClick={form.clear}>
            Remove all
          </Button>
        ) : null}
        {pages > 1 ? <Pager page={at} pages={pages} onPage={setPage} /> : null}
      </div>
      <ImportDialog open={importing} onOpenChange={setImporting} form={form} />
    </Sheet>
  );
};

interface NoticesProps {
  readonly form: PayoutForm;
  readonly onlyProblems: boolean;
  readonly onOnlyProblems: (only: boolean) => void;
}

const Notices = ({ form, onlyProblems, onOnlyProblems }: NoticesProps): ReactNode => {
  const { problems, repeats, filled } = form;
  if (problems.size === 0 && repeats.size === 0 && filled <= PAYOUT_ROWS_MAX) return null;
  return (
    <div className="flex flex-col gap-2 border-b p-4">
      {filled > PAYOUT_ROWS_MAX ? (
        <Alert tone="danger" title={`A payout has at most ${PAYOUT_ROWS_MAX.toLocaleString("en")} rows`}>
          Split it into several.
        </Alert>
      ) : null}
      {problems.size === 0 ? null : (
        <Alert tone="danger" title={`${counted(problems.size, "row is", "rows are")} not right; nothing was paid`}>
          <Checkbox
            label="Show only these"
            checked={onlyProblems}
            onChange={(event) => onOnlyProblems(event.target.checked)}
          />
        </Alert>
      )}
      {repeats.size === 0 ? null : (
        <Alert tone="warning" title={`${counted(repeats.size, "row repeats", "rows repeat")} an earlier one`}>
          Same account, amount and reference. Each row is paid; remove those that are not meant.
        </Alert>
      )}
    </div>
  );
};

interface PagerProps {
  readonly page: number;
  readonly pages: number;
  readonly onPage: (page: number) => void;
}

const Pager = ({ page, pages, onPage }: PagerProps): ReactNode => (
  <span className="ml-auto flex items-center gap-1 text-sm text-fg-2">
    <IconButton label="Rows before" disabled={page === 0} onClick={() => onPage(page - 1)}>
      <ChevronLeft aria-hidden />
    </IconButton>
    <span className="num">
      Page {page + 1} of {pages}
    </span>
    <IconButton label="Rows after" disabled={page === pages - 1} onClick={() => onPage(page + 1)}>
      <ChevronRight aria-hidden />
    </IconButton>
  </span>
);
