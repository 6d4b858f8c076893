import { type ReactNode, useState } from "react";
import { StatementDownloads } from "@/components/features/global-accounts/statement-downloads";
import {
  type PeriodKind,
  periodOf,
  reserveStatementPdf,
} from "@/components/features/global-accounts/statement";
import { useApi } from "@/components/features/session/use-api";
import { Select } from "@/components/ui/select";
import {
  exportReserveStatement,
  exportReserveStatementCamt,
  getReserveStatement,
} from "@/lib/api-client/calls.gen";
import type { Reserve } from "./use-reserves";

const PERIODS = [
  { value: "this-month", label: "This month" },
  { value: "last-month", label: "Last month" },
] as const satisfies readonly { value: PeriodKind; label: string }[];

const NO_DAYS = { from: null, to: null };

/** Downloads of the statement of a currency's reserve account. */
export const ReserveStatement = ({ reserve }: { readonly reserve: Reserve }): ReactNode => {
  const api = useApi();
  const [kind, setKind] = useState<(typeof PERIODS)[number]["value"]>("this-month");
  const [now] = useState(() => new Date());
  const query = periodOf(kind, NO_DAYS, now) ?? {};
  const options = { params: { currency: reserve.assetId }, query };
  return (
    <div className="flex flex-wrap items-center gap-2 border-t px-4 py-2.5">
      <span className="text-fg-2">Statement (UTC)</span>
      <div className="w-36">
        <Select
          label={`Period of the ${reserve.currency} statement`}
          value={kind}
          onValueChange={(next) =>
            setKind(PERIODS.find(({ value }) => value === next)?.value ?? "this-month")
          }
          options={PERIODS}
        />
      </div>
      <span className="ml-auto flex flex-wrap gap-2">
        <StatementDownloads
          size="sm"
          name={`reserve-${reserve.assetId}-${query.from?.slice(0, 10) ?? ""}`}
          csv={() => api.call(exportReserveStatement, options)}
          camt053={() => api.call(exportReserveStatementCamt, options)}
          pdf={async () =>
            reserveStatementPdf(await api.call(getReserveStatement, options), new Date())
          }
        />
      </span>
    </div>
  );
};
