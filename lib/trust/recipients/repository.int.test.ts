/**
 * Checks with which of a project's wallets, contacts and payments a recipient is compared, and that
 * few rows are read for it.
 */
import { getAddress, toHex } from "viem";
import { beforeEach, expect, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { sqlBy, sqlOn } from "@/lib/platform/db/sql";
import type { EvmAddress } from "@/lib/core/evm";
import { testDatabase } from "@/lib/dev/testing/database";
import { readRecords } from "./repository";

const { database } = await testDatabase({ role: "owner" });
const { pool, prisma } = database;
const sql = sqlOn(pool);
let projectId = "";

beforeEach(async () => {
  projectId = newId("project");
  await prisma.project.create({
    data: { id: projectId, name: "Records", createdAt: new Date() },
  });
});

let last = 0;
/** A new address with these ends. */
const address = (ends = "abcd1234"): EvmAddress =>
  getAddress(
    `0x${ends.slice(0, 4)}${toHex((last += 1), { size: 16 }).slice(2)}${ends.slice(4)}`,
  );

const pay = (paid: EvmAddress) =>
  prisma.policyRecipient.create({
    data: { projectId, address: paid.toLowerCase(), firstPaidAt: new Date() },
  });
const payInPrivate = async (paid: EvmAddress): Promise<void> => {
  await pay(paid);
  await pool.query(
    `INSERT INTO privacy_transfer (project_id, id, operation_id, kind, wallet_id, to_address, chain_id, token, token_out, amount_base, digest,
       created_by, created_at)
     VALUES ($1, $2, $3, 'private_transfer', 'pw_1', $4, 1, '{}', '{}', 1, '\\x00', 'usr_1', now())`,
    [projectId, newId("transfer"), newId("operation"), paid],
  );
};
/** A row of a payout. A separate statement marks the address as paid. */
const addPayoutRow = async (paid: EvmAddress): Promise<void> => {
  const payoutId = newId("payout");
  await pool.query(
    `INSERT INTO wallet_payout_batch (project_id, payout_id, number, wallet_address, chain_id, token, rows, amount_base, state, updated_at)
     VALUES ($1, $2, 1, '0xTreasury', 1, 'native', 1, 1, 'paid', now())`,
    [projectId, payoutId],
  );
  await pool.query(
    `INSERT INTO wallet_payout_item (project_id, payout_id, index, recipient, token, amount_base, batch)
     VALUES ($1, $2, 0, $3, 'native', 1, 1)`,
    [projectId, payoutId, paid],
  );
};
const read = (addresses: readonly EvmAddress[], seesPrivate = false) =>
  readRecords(sql, projectId, { addresses, chainId: null, seesPrivate });

test("an address is compared with paid ones, wallets and contacts that begin and end like it, and with no other", async () => {
  const [paid, wallet, contact] = [address(), address("ABcd1234"), address()];
  for (const other of ["abcd1235", "abce1234", "abcc1234"]) await pay(address(other));
  await pay(paid);
  const createdAt = new Date();
  await prisma.wallet.create({
    data: {
      id: newId("wallet"),
      projectId,
      kind: "linked",
      address: wallet,
      label: "Own",
      createdAt,
    },
  });
  await prisma.contact.create({
    data: {
      ...{
        id: newId("contact"),
        projectId,
        name: "Ada",
        address: contact,
        createdBy: "usr_1",
        createdAt,
      },
      ...{ proposedAt: createdAt, proposedBy: "usr_1" },
    },
  });
  const { known, own, paid: counted } = await read([address()]);
  expect(known.map((one) => [one.as, one.address])).toEqual([
    ["own", wallet],
    ["proposed", contact],
    ["earlier", paid],
  ]);
  expect(own).toEqual(new Set([wallet]));
  expect(counted).toEqual(new Set([paid]));
  expect((await read([address("ffff0000")])).known).toEqual([]);
});

test("the project's own records count alone", async () => {
  await pay(address());
  const other = newId("project");
  expect(
    (
      await readRecords(sql, other, {
        addresses: [address()],
        chainId: null,
        seesPrivate: true,
      })
    ).known,
  ).toEqual([]);
});

test("an address that was paid in private alone is known to nobody, and counts as paid for callers who may see that", async () => {
  const hidden = address();
  await payInPrivate(hidden);
  const asked = [hidden, address()];
  expect(await read(asked)).toMatchObject({ known: [], paid: new Set() });
  expect(await read(asked, true)).toMatchObject({ known: [], paid: new Set([hidden]) });
});

test("an address that was paid in both ways is known by its public payment", async () => {
  const both = address();
  await payInPrivate(both);
  await addPayoutRow(both);
  expect(await read([address()])).toMatchObject({
    known: [{ address: both, as: "earlier" }],
    paid: new Set([both]),
  });
});

test("a project that knows thousands of addresses reads none of the others", async () => {
  await pool.query(
    `INSERT INTO policy_recipient (project_id, address, first_paid_at)
     SELECT $1, '0x' || left(encode(sha256(i::text::bytea), 'hex'), 40), now() FROM generate_series(1, 5000) AS i`,
    [projectId],
  );
  await pool.query(
    `INSERT INTO wallet (id, project_id, kind, address, created_at)
     SELECT 'wal_' || i, $1, 'linked', '0x' || left(encode(sha256(i::text::bytea), 'hex'), 40), now() FROM generate_series(1, 5000) AS i`,
    [projectId],
  );
  await pool.query("ANALYZE policy_recipient, wallet");
  const plans: string[] = [];
  const explained = sqlBy({
    ...sql,
    query: async (text, values) => {
      const { rows } = await pool.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`, [
        ...values,
      ]);
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
      return sql.query(text, values);
    },
  });
  await readRecords(explained, projectId, {
    addresses: [address(), address("00001111")],
    chainId: 1,
    seesPrivate: false,
  });
  const all = plans.join("\n");
  expect(all).toMatch(/wallet_ends_idx/);
  expect(all).toMatch(/policy_recipient_pkey.*\n\s*Index Cond: .*address > /);
  expect(all).not.toMatch(/Seq Scan on (wallet|policy_recipient)/);
});
