"use client";

import { createContext, useContext } from "react";
import type { ReportingCurrency } from "@/lib/core/currencies";

export interface Reporting {
  readonly currency: ReportingCurrency;
  /** US dollars for one unit, and when the rate was set (RFC 3339); null without a conversion. */
  readonly rate: { readonly usd: string; readonly at: string } | null;
}

const DOLLARS: Reporting = { currency: "USD", rate: null };

const ReportingContext = createContext(DOLLARS);

export const ReportingProvider = ReportingContext.Provider;

/**
 * The currency in which the project's values are shown, with its exchange rate. US dollars until
 * the project's setting is loaded.
 */
export const useReporting = (): Reporting => useContext(ReportingContext);

/**
 * The currency of a chart with the factor from US dollars to it. Floats are precise enough for the
 * heights of lines.
 */
export const useWorthFactor = (): { readonly currency: string; readonly factor: number } => {
  const { currency, rate } = useReporting();
  return rate === null
    ? { currency: "USD", factor: 1 }
    : { currency, factor: 1 / Number(rate.usd) };
};
