/**
 * The currency in which people of a project read its figures. Amounts, limits and prices of the
 * service itself stay in US dollars.
 */
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { RATED_CURRENCIES, type ReportingCurrency } from "@/lib/core/currencies";
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { createFreshCache } from "@/lib/core/fresh-cache";
import { requirePermission } from "@/lib/core/permissions";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { Database } from "@/lib/platform/db/client";
import type { CurrencyRate, CurrencyRates } from "@/lib/books/ports/currency-rates";
import { readCurrency, replaceCurrency } from "./repository";

export interface ReportingDeps {
  readonly database: Database;
  readonly rates: CurrencyRates;
  readonly clock: Clock;
  readonly log: { warn(fields: object, message: string): void };
}

export interface Reporting {
  readonly currency: ReportingCurrency;
  /** Null for US dollars, and while the source does not give the rate. */
  readonly rate: CurrencyRate | null;
  readonly source: CurrencyRates["source"];
}

export interface ReportingService {
  /** The currency of the project with its rate. */
  get(projectId: string): Promise<Reporting>;
  /** The known rates, with their source. */
  rates(): Promise<{
    readonly source: CurrencyRates["source"];
    readonly rates: readonly CurrencyRate[];
  }>;
  /**
   * Changes the currency in which the project reads its figures.
   * @throws DomainError `forbidden`; `invalid_request` for a currency without a known rate;
   * `invalid_state` when the currency was changed in the meantime
   */
  set(actor: UserActor, currency: ReportingCurrency): Promise<Reporting>;
}

const READ_TIMEOUT_MS = 5000;
/**
 * Rates of this age are still returned, but are read again in the background. Feeds of currencies
 * change at most every few minutes.
 */
const FRESH_MS = 60_000;
const KEPT_MS = 15 * 60_000;
const ALL = "all";

const noRate = (currency: ReportingCurrency): DomainError => {
  const message = `has no known rate: no configured price feed and no line of FX_RATES_FILE gives ${currency}. Choose ${["USD", ...RATED_CURRENCIES].filter((one) => one !== currency).join(", ")}, or ask who runs this service`;
  return invalidRequest([{ path: "currency", message }], `${currency} ${message}.`);
};

/** The service of reporting currencies. Each instance keeps the rates for about a minute. */
export const createReportingService = ({
  database,
  rates: source,
  clock,
  log,
}: ReportingDeps): ReportingService => {
  const read = async (): Promise<readonly CurrencyRate[]> => {
    try {
      return await source.rates(AbortSignal.timeout(READ_TIMEOUT_MS));
    } catch (error) {
      log.warn({ err: error }, "The rates of currencies could not be read.");
      return [];
    }
  };
  const cache = createFreshCache<readonly CurrencyRate[]>({
    load: read,
    keep: (rates) => rates.length > 0,
    refreshAfterMs: FRESH_MS,
    expireAfterMs: KEPT_MS,
  });
  const rateOf = async (currency: ReportingCurrency): Promise<CurrencyRate | null> => {
    if (currency === "USD") return null;
    const known = await cache.get(ALL);
    return known.find((rate) => rate.currency === currency) ?? null;
  };

  const get = async (projectId: string): Promise<Reporting> => {
    const currency = await readCurrency(database.prisma, projectId);
    return { currency, rate: await rateOf(currency), source: source.source };
  };

  return {
    get,
    rates: async () => ({ source: source.source, rates: await cache.get(ALL) }),
    set: async (actor, currency) => {
      requirePermission(actor, "policies:manage");
      const { projectId } = actor;
      if (currency !== "USD" && (await rateOf(currency)) === null) throw noRate(currency);
      const from = await readCurrency(database.prisma, projectId);
      if (from === currency) return get(projectId);
      await database.transaction(async (tx) => {
        if (!(await replaceCurrency(tx, { projectId, from, to: currency })))
          throw new DomainError(
            "invalid_state",
            "The reporting currency was changed meanwhile. Look at it, then change it again.",
          );
        await recordAudit(tx, {
          ...doneBy(actor),
          subject: projectId,
          action: "project.reporting_currency",
          data: { currency, before: from },
          at: clock.now(),
        });
      });
      return get(projectId);
    },
  };
};
