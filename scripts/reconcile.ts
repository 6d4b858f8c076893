import { userInfo } from "node:os";
import { createServices } from "../lib/composition";
import { renderReport } from "../lib/money/signing/reconcile";
import { defineCommand, NEEDS, UsageError } from "./command";
import { configOf, findDatabase } from "./database";

export const command = defineCommand({
  options: {
    accept: {
      type: "string",
      value: "HASH",
      multiple: true,
      about: "accepts an unknown move; may be repeated; needs --reason",
    },
    "accept-all": {
      type: "boolean",
      about: "accepts every unknown move that is found; needs --reason",
    },
    release: {
      type: "string",
      value: "HASH",
      multiple: true,
      about: "lets the recipients of an accepted move be paid again; may be repeated",
    },
    stop: {
      type: "boolean",
      about: "turns signing off, before a restore that cannot be recognised",
    },
    reason: { type: "string", value: "TEXT", about: "why, for the audit log" },
    by: {
      type: "string",
      value: "NAME",
      about: "who does it, for the audit log; operator:<user> by default",
    },
  },
  environment: [NEEDS.database, NEEDS.service],
  notDone: "differences need a person's decision, or signing stays off",
  run: async ({ values, output }) => {
    const { accept = [], release = [], stop = false, reason = "" } = values;
    const decides =
      accept.length > 0 || release.length > 0 || stop || values["accept-all"] === true;
    if (decides && reason.trim() === "") throw new UsageError("A reason is needed.");
    const by = values.by ?? `operator:${userInfo().username}`;
    const source = await findDatabase();
    const services = createServices(configOf(source.url));
    try {
      const { reconciliation } = services;
      if (stop) {
        await reconciliation.stopSigning(by, reason);
        output.say("Nothing is signed any more. `npm run reconcile` allows it again.");
        return { isDone: true, result: { isAllowed: false } };
      }
      if (release.length > 0) {
        const released = await reconciliation.releaseMoves(release, by, reason);
        output.say(
          `${String(released.length)} of ${String(release.length)} moves were released.`,
        );
        return { isDone: released.length === release.length, result: { released } };
      }
      const wanted = values["accept-all"] === true ? ("all" as const) : accept;
      const report = await reconciliation.reconcile({ by, reason, accept: wanted });
      output.say(renderReport(report));
      const isDone =
        report.isAllowed && report.unknown.length === 0 && report.faults.length === 0;
      return { isDone, result: report };
    } finally {
      await services.close();
      await source.stop();
    }
  },
});
