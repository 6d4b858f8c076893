"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ReportingProvider, useReporting } from "@/components/ui/reporting";
import { Time } from "@/components/ui/time";
import { rateText, reportingQuery } from "./use-reporting";

/** Gives the pages the reporting currency of the project. */
export const ProjectReporting = ({ children }: { readonly children: ReactNode }): ReactNode => {
  const { data } = useQuery(reportingQuery);
  return data === undefined ? (
    children
  ) : (
    <ReportingProvider value={data}>{children}</ReportingProvider>
  );
};

/** Says at which rate the figures beside it are converted. Renders nothing for US dollars. */
export const RateNote = (): ReactNode => {
  const { currency, rate } = useReporting();
  if (currency === "USD") return null;
  return (
    <p className="text-sm text-fg-3">
      {rate === null ? (
        `In US dollars: the rate of ${currency} is not known at the moment.`
      ) : (
        <>
          {`In ${currency}, at ${rateText(currency, rate.usd)}, a rate of `}
          <Time value={rate.at} />
        </>
      )}
    </p>
  );
};
