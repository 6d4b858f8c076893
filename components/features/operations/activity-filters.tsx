"use client";

import type { ReactNode } from "react";
import { KIND_WORDS } from "@/components/features/overview/latest-activity";
import { Button } from "@/components/ui/button";
import { Field } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { OPERATION_KINDS } from "@/lib/contracts/operations";
import { STATUSES } from "@/lib/core/status";
import type { OperationFilters } from "./use-operation-list";

const ALL = "all";

interface ActivityFiltersProps {
  readonly filters: OperationFilters;
  readonly onChange: (next: OperationFilters) => void;
}

const STATUS_OPTIONS = [
  { value: ALL, label: "All states" },
  ...STATUSES.map((status) => ({ value: status, label: STATUS_VIEWS[status].word })),
];
const KIND_OPTIONS = [
  { value: ALL, label: "All kinds" },
  ...OPERATION_KINDS.map((kind) => ({ value: kind, label: KIND_WORDS[kind] })),
];

/** The filters live in the address of the page, so that a filtered list can be linked to. */
export const ActivityFilters = ({ filters, onChange }: ActivityFiltersProps): ReactNode => (
  <div className="flex flex-wrap items-end gap-3">
    <Field label="Status" className="w-44">
      <Select
        value={filters.status ?? ALL}
        onValueChange={(value) => onChange({ ...filters, status: STATUSES.find((status) => status === value) ?? null })}
        options={STATUS_OPTIONS}
      />
    </Field>
    <Field label="Kind" className="w-44">
      <Select
        value={filters.kind ?? ALL}
        onValueChange={(value) =>
          onChange({ ...filters, kind: OPERATION_KINDS.find((kind) => kind === value) ?? null })
        }
        options={KIND_OPTIONS}
      />
    </Field>
    {filters.status === null && filters.kind === null ? null : (
      <Button variant="ghost" onClick={() => onChange({ status: null, kind: null })}>
        Show all
      </Button>
    )}
  </div>
);
