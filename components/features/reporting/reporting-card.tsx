"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { apiQuery } from "@/components/features/session/api-query";
import { useMay } from "@/components/features/projects/use-project";
import { useApiMutation, useCache } from "@/components/features/session/use-api";
import { describeError } from "@/components/ui/describe-error";
import { RadioCards } from "@/components/ui/radio-cards";
import { QueryCard } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { listCurrencyRates, setReportingCurrency } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import {
  isReportingCurrency,
  REPORTING_CURRENCIES,
  type ReportingCurrency,
} from "@/lib/core/currencies";
import { rateText, reportingQuery } from "./use-reporting";

const NAMES = {
  USD: "US dollar",
  EUR: "Euro",
  GBP: "Pound sterling",
  CHF: "Swiss franc",
} as const satisfies Record<ReportingCurrency, string>;

type Rates = ResponseOf<typeof listCurrencyRates>["data"];

const ratesQuery = apiQuery(listCurrencyRates, {});

export const ReportingCard = (): ReactNode => (
  <QueryCard
    id="reporting"
    title="Reporting currency"
    description="The worth of balances and movements is shown in it, for everybody in this project. Amounts of tokens, limits and the API stay as they are."
    query={useQuery(ratesQuery)}
    what="the currencies"
    rows={4}
    flush={false}
  >
    {({ data }) => <Choice rates={data} />}
  </QueryCard>
);

const SOURCES = { chainlink: "by a price feed", file: "by the rate file" } as const;

const Rate = ({ currency, rate }: Rates[number]): ReactNode =>
  rate === null ? (
    "No rate is known"
  ) : (
    <>
      {`${rateText(currency, rate.usd)}, ${SOURCES[rate.source]}, `}
      <Time value={rate.at} />
    </>
  );

const Choice = ({ rates }: { readonly rates: Rates }): ReactNode => {
  const reporting = useQuery(reportingQuery);
  const cache = useCache();
  const may = useMay("policies:manage");
  const change = useApiMutation(setReportingCurrency);
  const choose = async (currency: ReportingCurrency): Promise<void> => {
    try {
      cache.set(reportingQuery, await change.mutateAsync({ body: { currency } }));
    } catch (error) {
      toast.error(`The currency was not changed. ${describeError(error).message}`);
    }
  };
  const current = reporting.data?.currency ?? "USD";
  return (
    <>
      <RadioCards
        label="Reporting currency"
        value={current}
        onValueChange={(value) => {
          if (isReportingCurrency(value) && may && !change.isPending) void choose(value);
        }}
        options={REPORTING_CURRENCIES.map((currency) => {
          const known = rates.find((one) => one.currency === currency);
          return {
            value: currency,
            label: `${NAMES[currency]} (${currency})`,
            description: known === undefined ? "As the API gives them" : <Rate {...known} />,
          };
        })}
      />
      {may ? null : (
        <p className="pt-3 text-sm text-fg-2">Owners and admins of the project change it.</p>
      )}
    </>
  );
};
