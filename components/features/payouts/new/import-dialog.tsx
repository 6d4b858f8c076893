"use client";

import { type ReactNode, useMemo, useState } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Dialog } from "@/components/ui/dialog";
import { Checkbox } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import {
  type DecimalSign,
  guessSign,
  readAmountCell,
  type SignGuess,
} from "../import/amount-format";
import type { ImportColumn } from "../import/column-names";
import { type Layout, layoutOf, limitedTo } from "../import/columns";
import { withColumn } from "@/components/features/file-import/layout";
import {
  ColumnFields,
  OpenColumns,
  type Questions,
  UnreadColumns,
} from "@/components/features/file-import/mapping-parts";
import { Preview } from "@/components/features/file-import/preview";
import type { Table as Sheet } from "@/components/features/file-import/table";
import { isOldSafeFile, toRows } from "../import/to-rows";
import { counted, FIELD_WORDS } from "./amount-rules";
import type { DraftField, DraftValues, RowRules } from "./draft-row";
import { requestProblem } from "./request-size";

export interface ImportDialogProps {
  readonly name: string;
  readonly rules: RowRules;
  /** Names of the configured chains. */
  readonly chains: readonly string[];
  /** The symbol of the token chosen on the page, or the paying account's currency. */
  readonly defaultToken: string;
  /** The number of rows that the payout already has. */
  readonly existing: number;
  readonly onClose: () => void;
  readonly onRows: (rows: readonly DraftValues[], replace: boolean) => void;
}

interface FrameProps extends ImportDialogProps {
  readonly title: string;
  readonly description: string;
  readonly notices: readonly string[];
  /** Why the rows do not fit into one payout; null when they do. */
  readonly problem: string | null;
  readonly rows: readonly DraftValues[];
  /** Whether every question about the file is answered. */
  readonly ready: boolean;
  readonly children: ReactNode;
}

/** Frame for the questions about a file, with the buttons that add its rows to the payout. */
export const ImportDialog = (props: FrameProps): ReactNode => {
  const { notices, problem, rows, existing, onClose, onRows } = props;
  const disabled = !props.ready || problem !== null;
  const counts = counted(rows.length, "row");
  return (
    <Dialog
      onClose={onClose}
      title={props.title}
      description={props.description}
      size="xl"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {existing === 0 ? null : (
            <Button disabled={disabled} onClick={() => onRows(rows, false)}>
              Add to the {counted(existing, "row")}
            </Button>
          )}
          <Button variant="primary" disabled={disabled} onClick={() => onRows(rows, true)}>
            {existing === 0 ? `Use ${counts}` : `Replace by ${counts}`}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {notices.length === 0 ? null : (
          <Alert tone="warning" title="Check how the file was read">
            {notices.join(" ")}
          </Alert>
        )}
        {problem === null ? null : (
          <Alert tone="danger" title="This file cannot go in one payout">
            {problem}
          </Alert>
        )}
        {props.children}
      </div>
    </Dialog>
  );
};

const TEXT_SHOWN = 60;

const cellOf = (row: DraftValues, field: DraftField): ReactNode => {
  const text = row[field];
  if (text === "") return <span className="text-fg-3">–</span>;
  const shown = text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text;
  if (field === "recipient")
    return <code className="font-mono text-sm break-all">{shown}</code>;
  const refusal = row.refusals[field];
  return (
    <span
      title={refusal}
      className={cn(
        field === "amount" ? "num font-medium" : "[overflow-wrap:anywhere]",
        refusal !== undefined && "text-danger",
      )}
    >
      {shown}
      {field === "amount" && refusal === undefined ? ` ${row.units.join(" ")}` : null}
    </span>
  );
};

interface MappingPreviewProps {
  readonly rows: readonly DraftValues[];
  readonly fields: readonly DraftField[];
}

export const MappingPreview = ({ rows, fields }: MappingPreviewProps): ReactNode => (
  <Preview<DraftValues>
    rows={rows}
    columns={fields.map((field) => ({
      id: field,
      header: FIELD_WORDS[field],
      cell: ({ values }) => cellOf(values, field),
      ...(field === "amount" ? { align: "right" as const } : {}),
      ...(field === "recipient" ? { phone: "title" as const } : {}),
    }))}
  />
);

interface MappingDialogProps extends ImportDialogProps {
  readonly table: Sheet;
}

export const MappingDialog = (props: MappingDialogProps): ReactNode => {
  const { name, table, rules, chains, defaultToken } = props;
  const { columns } = rules;
  const mapping = useMapping({ table, columns, chains });
  const { rows, ready, missing, problem, layout } = mapping;
  const questions = { mapping, table, columns, words: FIELD_WORDS };
  return (
    <ImportDialog
      {...props}
      title="Match the columns"
      description={`${name}, ${counted(rows.length, "row")}`}
      notices={table.notices}
      problem={problem}
      rows={rows}
      ready={ready}
    >
      <ColumnFields {...questions} />
      {missing && layout.open.recipient === undefined && layout.open.amount === undefined ? (
        <Alert tone="info" title="Choose the columns of the recipient and the amount">
          They were not recognised by their names.
        </Alert>
      ) : null}
      <OpenColumns {...questions} />
      <SignQuestion mapping={mapping} />
      <TokenNotice mapping={mapping} defaultToken={defaultToken} />
      <MappingPreview rows={rows} fields={rules.fields} />
      <UnreadColumns table={table} layout={layout} />
    </ImportDialog>
  );
};

/** Asks whether `1,250` is 1250 or 1.25. A wrong guess could pay a thousand times too much. */
const SignQuestion = ({ mapping }: Pick<TokenNoticeProps, "mapping">): ReactNode => {
  const { guess, sign, setSign } = mapping;
  if (guess.sign !== null) return null;
  const read = (as: DecimalSign): string =>
    guess.examples
      .map((text) => {
        const reading = readAmountCell(text, as);
        return "amount" in reading ? `${text} is ${reading.amount}` : `${text} is an error`;
      })
      .join(", ");
  return (
    <section aria-label="Decimal sign" className="flex flex-col gap-2">
      <p className="font-medium">How are the amounts written?</p>
      <RadioCards
        label="How the amounts are written"
        inRow
        value={sign ?? ""}
        onValueChange={(value) => setSign(value === "comma" ? "comma" : "point")}
        options={[
          { value: "point", label: "Decimal point", description: read("point") },
          { value: "comma", label: "Decimal comma", description: read("comma") },
        ]}
      />
    </section>
  );
};

interface TokenNoticeProps {
  readonly mapping: FileMapping;
  readonly defaultToken: string;
}

/** Says which token is paid for rows without a token in the file. */
const TokenNotice = ({ mapping, defaultToken }: TokenNoticeProps): ReactNode => {
  const { layout, emptyIsCoin, setEmptyIsCoin } = mapping;
  if (emptyIsCoin !== null)
    return (
      <Checkbox
        label="The file is from Safe's CSV app: rows without a token pay the chain's coin"
        checked={emptyIsCoin}
        onChange={(event) => setEmptyIsCoin(event.target.checked)}
      />
    );
  const { token, type } = layout.mapping;
  if (token !== null || type !== null || layout.open.token !== undefined || defaultToken === "")
    return null;
  return (
    <p className="text-sm text-fg-2">
      The file has no column for the token. Every row pays {defaultToken}, which is chosen on
      the page.
    </p>
  );
};

interface MappingInput {
  readonly table: Sheet;
  readonly columns: readonly ImportColumn[];
  readonly chains: readonly string[];
}

interface FileMapping extends Questions<ImportColumn> {
  readonly guess: SignGuess;
  /** Null while the person has not chosen the decimal sign. */
  readonly sign: DecimalSign | null;
  readonly setSign: (sign: DecimalSign) => void;
  /** Null for a file that is not in the old format of Safe's CSV app. */
  readonly emptyIsCoin: boolean | null;
  readonly setEmptyIsCoin: (emptyIsCoin: boolean) => void;
  readonly rows: readonly DraftValues[];
  /** Why the rows do not fit into one payout; null when they do. */
  readonly problem: string | null;
  readonly missing: boolean;
  /** Whether every question is answered and the file has rows. */
  readonly ready: boolean;
}

const useMapping = ({ table, columns, chains }: MappingInput): FileMapping => {
  const [layout, setLayout] = useState<Layout>(() =>
    limitedTo(layoutOf(table.rows, chains), columns),
  );
  const [chosenSign, setSign] = useState<DecimalSign | null>(null);
  const [emptyIsCoin, setEmptyIsCoin] = useState(false);
  const { amount, recipient } = layout.mapping;
  const guess = useMemo(() => {
    const body = table.rows.slice(layout.headed ? 1 : 0);
    return guessSign(amount === null ? [] : body.map((row) => row[amount]));
  }, [table, amount, layout.headed]);
  const sign = guess.sign ?? chosenSign;
  const rows = useMemo(() => {
    const choices = { sign: sign ?? "point", emptyIsCoin } as const;
    return toRows(table, layout, choices).map((row) => ({ ...row, checked: true }));
  }, [table, layout, sign, emptyIsCoin]);
  const problem = useMemo(() => requestProblem(rows), [rows]);
  const missing = recipient === null || amount === null;
  const isOpen = Object.keys(layout.open).length > 0;
  return {
    layout,
    setHeaded: (headed) => setLayout({ ...layout, headed }),
    setColumn: (wanted, column) => setLayout(withColumn(layout, wanted, column)),
    guess,
    sign,
    setSign,
    emptyIsCoin: isOldSafeFile(table, layout) ? emptyIsCoin : null,
    setEmptyIsCoin,
    rows,
    problem,
    missing,
    ready: !missing && !isOpen && sign !== null && rows.length > 0,
  };
};
