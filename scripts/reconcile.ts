/**
 * `npm run reconcile`: compares the database with the chains after a restore or a failover, and
 * allows signing again when they agree. Exits with 1 while differences need a person's decision.
 */
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { parseArgs } from "node:util";
import { createServices } from "../lib/composition";
import { renderReport } from "../lib/money/signing/reconcile";
import { configOf, findDatabase } from "./database";
import { runCommand } from "./command";

const USAGE = `npm run reconcile [-- OPTIONS]
  --accept HASH --reason "…"    accepts an unknown move; may be repeated
  --accept-all --reason "…"     accepts every unknown move that is found
  --release HASH --reason "…"   lets the recipients of an accepted move be paid again; may be repeated
  --stop --reason "…"           turns signing off, before a restore that cannot be recognised
  --by NAME                     who does it, for the audit log`;

const options = {
  accept: { type: "string", multiple: true },
  "accept-all": { type: "boolean" },
  release: { type: "string", multiple: true },
  stop: { type: "boolean" },
  reason: { type: "string" },
  by: { type: "string" },
} as const;

const main = async (): Promise<boolean> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { values } = parseArgs({ options });
  const { accept = [], release = [], stop = false, reason = "" } = values;
  const decides =
    accept.length > 0 || release.length > 0 || stop || values["accept-all"] === true;
  if (decides && reason.trim() === "") throw new Error(`A reason is needed.\n${USAGE}`);
  const by = values.by ?? `operator:${userInfo().username}`;
  const source = await findDatabase();
  const services = createServices(configOf(source.url));
  try {
    const { reconciliation } = services;
    if (stop) {
      await reconciliation.stopSigning(by, reason);
      console.log("Nothing is signed any more. `npm run reconcile` allows it again.");
      return true;
    }
    if (release.length > 0) {
      const released = await reconciliation.releaseMoves(release, by, reason);
      console.log(
        `${String(released.length)} of ${String(release.length)} moves were released.`,
      );
      return released.length === release.length;
    }
    const wanted = values["accept-all"] === true ? ("all" as const) : accept;
    const report = await reconciliation.reconcile({ by, reason, accept: wanted });
    console.log(renderReport(report));
    return report.isAllowed && report.unknown.length === 0 && report.faults.length === 0;
  } finally {
    await services.close();
    await source.stop();
  }
};

await runCommand(async () => ((await main()) ? 0 : 1));
