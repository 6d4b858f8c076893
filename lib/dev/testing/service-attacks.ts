import { quarantinedDeposit } from "./deposits";
import { testAccount } from "./factories";
import {
  approvalAsked,
  call,
  deliveryOf,
  endpointOf,
  expecting,
  ONE,
  scheduleOf,
  theApi,
  type AttackTable,
} from "./token-attacks";

/**
 * Rows of the table in authority-table.int.test.ts: deposits, schedules, webhooks, and the faucet
 * of local chains.
 */
export const SERVICE_ROWS: AttackTable = {
  "POST /deposits/{id}/release": [
    "needs approval",
    async ({ customer }) =>
      approvalAsked(
        call(
          "POST",
          `/deposits/${await quarantinedDeposit(theApi().services, customer)}/release`,
          {
            reason: "x",
          },
        ),
      ),
  ],
  "POST /payouts/schedules": [
    "waits for code",
    (it) => expecting(scheduleOf(it), 201, { status: "awaiting_approval", nextRunAt: null }),
  ],
  "POST /payouts/schedules/{id}/approve": [
    "needs code",
    async (it) => {
      const { body } = await scheduleOf(it);
      const path = `/payouts/schedules/${String(body.id)}/approve`;
      return expecting(call("POST", path, { otp: "000000" }), 409, { code: "otp_required" });
    },
  ],
  "POST /payouts/schedules/{id}/cancel": [
    "narrows",
    async (it) => {
      const { body } = await scheduleOf(it);
      const path = `/payouts/schedules/${String(body.id)}/cancel`;
      return expecting(call("POST", path), 200, { status: "cancelled" });
    },
  ],
  // An endpoint only receives data that its owner may read anyway, and moves no money.
  "POST /webhook-endpoints": [
    "moves nothing",
    () =>
      expecting(
        call("POST", "/webhook-endpoints", { url: "http://127.0.0.1:9999/", events: ["*"] }),
        201,
      ),
  ],
  "PATCH /webhook-endpoints/{id}": [
    "needs approval",
    async () => {
      const id = await endpointOf();
      await call("PATCH", `/webhook-endpoints/${id}`, { status: "paused" });
      return approvalAsked(
        call("PATCH", `/webhook-endpoints/${id}`, { url: "http://127.0.0.1:9998/" }),
      );
    },
  ],
  "DELETE /webhook-endpoints/{id}": [
    "narrows",
    async () => expecting(call("DELETE", `/webhook-endpoints/${await endpointOf()}`), 200),
  ],
  "POST /webhook-endpoints/{id}/rotate": [
    "needs approval",
    async () =>
      approvalAsked(call("POST", `/webhook-endpoints/${await endpointOf()}/rotate`, {})),
  ],
  "POST /webhook-endpoints/{id}/test": [
    "moves nothing",
    async () => expecting(call("POST", `/webhook-endpoints/${await endpointOf()}/test`), 202),
  ],
  "POST /webhook-endpoints/{id}/replay": [
    "moves nothing",
    async () =>
      expecting(
        call("POST", `/webhook-endpoints/${await endpointOf()}/replay`, { from: 1, to: 2 }),
        202,
      ),
  ],
  "POST /deliveries/{id}/resend": [
    "moves nothing",
    async () => expecting(call("POST", `/deliveries/${await deliveryOf()}/resend`), 202),
  ],
  // A resumed job continues with what was approved, and no work of this project is stopped.
  "POST /jobs/{id}/resume": [
    "moves nothing",
    () => expecting(call("POST", "/jobs/po_none/resume"), 404, { code: "not_found" }),
  ],
  // The faucet gives coins of local chains and takes them from no user's wallet.
  "POST /dev/faucet": [
    "moves nothing",
    () => {
      const { address } = testAccount();
      return expecting(
        call("POST", "/dev/faucet", { address, chainId: ONE, token: "USDC", amount: "1" }),
        201,
      );
    },
  ],
};
