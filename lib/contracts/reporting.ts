/** The currency in which a project reads its figures. */
import { z } from "zod";
import { RATED_CURRENCIES, REPORTING_CURRENCIES } from "@/lib/core/currencies";
import { timestamp } from "./common";
import { defineContract } from "./contract";

const tag = "Balances";

const rate = z
  .object({
    usd: z
      .string()
      .meta({ description: "US dollars for one unit of the currency, a decimal string" }),
    at: timestamp.meta({ description: "When the source set the rate" }),
    source: z
      .enum(["chainlink", "file"])
      .meta({ description: "A price feed on a chain, or the file of who runs the service" }),
  })
  .meta({ id: "CurrencyRate" });

const currency = z.enum(REPORTING_CURRENCIES).meta({ description: "By ISO 4217" });

const reporting = z
  .object({
    currency: currency.meta({ description: "The project's reporting currency, by ISO 4217" }),
    rate: rate.nullable().meta({
      description:
        "The rate at which figures in US dollars are converted; null for USD, and while the rate is not known",
    }),
  })
  .meta({ id: "ReportingCurrency" });

export const getReportingCurrency = defineContract({
  method: "GET",
  path: "/reporting-currency",
  summary: "The project's reporting currency with its rate",
  description:
    "The currency in which the dashboard shows the worth of balances and movements. All `usd` fields of this API, limits and prices stay in US dollars; divide them by `rate.usd`. Changes nothing.",
  tag,
  auth: "member",
  scope: "balances:read",
  status: 200,
  response: reporting,
});

export const setReportingCurrency = defineContract({
  method: "PUT",
  path: "/reporting-currency",
  summary: "Changes the project's reporting currency",
  description:
    "For owners and admins. Only figures on screens change; limits, prices and amounts do not. Refused with 400 `invalid_request` for a currency without a known rate, see GET /currency-rates.",
  tag,
  auth: "user",
  permission: "policies:manage",
  body: z.object({ currency }),
  status: 200,
  response: reporting,
  errors: ["invalid_request", "invalid_state"],
});

export const listCurrencyRates = defineContract({
  method: "GET",
  path: "/currency-rates",
  summary: "The rates of the possible reporting currencies",
  description:
    "Rates against the US dollar, by Chainlink price feeds of the configuration or by the file `FX_RATES_FILE`. They are read at most once a minute. No movement is priced by them. Changes nothing.",
  tag,
  auth: "member",
  scope: "balances:read",
  status: 200,
  response: z.object({
    data: z
      .array(
        z.object({
          currency: z.enum(RATED_CURRENCIES).meta({ description: "By ISO 4217" }),
          rate: rate.nullable().meta({
            description: "Null where no source gives one, or where it is too old",
          }),
        }),
      )
      .meta({ description: "One entry for each currency but the US dollar" }),
  }),
});
