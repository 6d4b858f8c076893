"use client";

import type { ReactNode } from "react";
import { TagSelected } from "@/components/features/annotations/tag-selected";
import { useApi } from "@/components/features/session/use-api";
import { FileButton } from "@/components/ui/save-file";
import {
  type BulkAct,
  BulkFailures,
  type Selection,
  SelectionBar,
} from "@/components/ui/selection";
import { useTitleOptions } from "@/components/ui/use-locale";
import { useMay } from "@/components/features/projects/use-project";
import { exportActivity } from "@/lib/api-client/calls.gen";
import { type ActivityRow, payoutTitleOf, wordsOf } from "./activity-entry";

/** Names a movement: by its title, or by its kind and amount. */
export const useMovementLabel = (): ((row: ActivityRow) => string) => {
  const options = useTitleOptions();
  return (row) => {
    const [first] = row.sent;
    const amount =
      first === undefined || options.hidden ? "" : `, ${first.amount} ${first.token.symbol}`;
    return payoutTitleOf(row, options) ?? `${wordsOf(row)}${amount}`;
  };
};

/**
 * Adds a millisecond to the time of the newest selected movement, because the end of an export is
 * excluded.
 */
const after = (time: string): string => new Date(Date.parse(time) + 1).toISOString();

interface ExportSelectedProps {
  readonly movements: readonly { readonly id: string; readonly createdAt: string }[];
  readonly selected: readonly string[];
}

/** Exports the lines of the selected movements. */
export const ExportSelected = ({ movements, selected }: ExportSelectedProps): ReactNode => {
  const api = useApi();
  return (
    <FileButton
      make={async () => {
        const times = movements
          .filter(({ id }) => selected.includes(id))
          .map(({ createdAt }) => createdAt)
          .sort();
        const query = { from: times[0], to: after(times.at(-1) ?? "") };
        const [csv, { selectedLines }] = await Promise.all([
          api.call(exportActivity, { query }),
          // The module is loaded on demand, because it contains a CSV parser.
          import("./selected-csv"),
        ]);
        const day = new Date().toISOString().slice(0, 10);
        return {
          text: selectedLines(csv, selected),
          name: `causeway-activity-selected-${day}.csv`,
        };
      }}
    >
      Export CSV
    </FileButton>
  );
};

interface SelectedMovementsProps {
  readonly movements: readonly ActivityRow[];
  readonly selection: Selection;
  readonly act: BulkAct;
}

/** The actions for the selected movements. */
export const SelectedMovements = ({
  movements,
  selection,
  act,
}: SelectedMovementsProps): ReactNode => {
  const labelOf = useMovementLabel();
  const mayWrite = useMay("records:write");
  const named = (id: string): string => {
    const row = movements.find((one) => one.id === id);
    return row === undefined ? id : labelOf(row);
  };
  return (
    <SelectionBar selection={selection} notice={<BulkFailures act={act} labelOf={named} />}>
      {mayWrite ? <TagSelected selected={selection.selected} act={act} /> : null}
      <ExportSelected movements={movements} selected={selection.selected} />
    </SelectionBar>
  );
};
