/**
 * Runs the service as the Dockerfile and the systemd units do: two web instances and two workers in
 * production mode, from a read-only folder.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { once } from "node:events";
import { SMTPServer } from "smtp-server";
import { query } from "./support/database";
import { assemble, type Deployment, type Started } from "./support/deployment";
import { freePort } from "@/lib/platform/os/ports";
import { expect, test } from "./support/test";

const PUBLIC_URL = "https://pay.example.org";
const WAIT = { timeout: 120_000 };
const secret = (): string => randomBytes(32).toString("hex");

/** Returns the URL of another database on the same server, for the same role. */
const databaseUrl = (serverUrl: string | undefined, database: string): string => {
  const url = new URL(serverUrl ?? "");
  url.pathname = `/${database}`;
  return url.href;
};

/**
 * Environment of a production service that uses the local chains, its own database on the test
 * stack's PostgreSQL, and the test's mail server.
 */
const environmentOf = (database: string, smtpPort: number): Record<string, string> => {
  const chains = Object.entries(process.env).flatMap(([name, value]) => {
    const id = /^E2E_RPC_URL_(\d+)$/.exec(name)?.[1];
    return id === undefined || value === undefined ? [] : [[`RPC_URL_${id}`, value] as const];
  });
  return {
    ...Object.fromEntries(chains),
    CHAINS_FILE: "lib/platform/config/chains/local.json",
    DATABASE_URL: databaseUrl(process.env.E2E_DATABASE_URL, database),
    HOST: "127.0.0.1",
    PUBLIC_URL,
    NEXTAUTH_URL: PUBLIC_URL,
    APP_SECRET: secret(),
    KEY_ENCRYPTION_KEY: secret(),
    WEBHOOK_SECRET: secret(),
    EXECUTOR_PRIVATE_KEY: `0x${secret()}`,
    SMTP_URL: `smtp://127.0.0.1:${String(smtpPort)}`,
    SIGN_UP: "open",
  };
};

const createDatabase = async (): Promise<string> => {
  const name = `deploy_${randomBytes(6).toString("hex")}`;
  await query(`CREATE DATABASE ${name}`);
  return name;
};

const startMail = async () => {
  const mail = new SMTPServer({ authOptional: true, disabledCommands: ["STARTTLS", "AUTH"] });
  mail.listen(0, "127.0.0.1");
  await once(mail.server, "listening");
  const { port } = mail.server.address() as AddressInfo;
  return { port, close: () => new Promise<void>((done) => mail.close(done)) };
};

/** Sends a request whose body arrives in two parts. `answer` resolves to the whole response. */
const slowRequest = async (port: number) => {
  const body = JSON.stringify({ address: "0x000000000000000000000000000000000000dEaD" });
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const closed = once(socket, "close");
  await once(socket, "connect");
  const head = `POST /api/auth/nonce HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${String(body.length)}\r\n\r\n`;
  socket.write(head + body.slice(0, 5));
  return {
    finish: async (): Promise<string> => {
      socket.write(body.slice(5));
      await closed;
      return text;
    },
  };
};

const refuses = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(false);
    });
    socket.once("error", () => resolve(true));
  });

const statusOf = async (port: number, path: string): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, {
    redirect: "manual",
  }).catch(() => null);
  await response?.text();
  return response?.status ?? 0;
};

const expectEnded = async (started: Started): Promise<void> => {
  started.child.kill("SIGTERM");
  // The process exits with 1 when a part does not stop within 8 s.
  expect(await started.ended, started.output()).toBe(0);
};

const isHealthy = async (deployment: Deployment, port: number): Promise<boolean> =>
  (await deployment.start(deployment.healthcheck, { PORT: String(port) }).ended) === 0;

test("the image's commands run on a read-only tree without rights, and each process ends cleanly while others go on", async () => {
  test.setTimeout(300_000);
  const [deployment, mail, database] = [
    assemble("."),
    await startMail(),
    await createDatabase(),
  ];
  const environment = environmentOf(database, mail.port);
  try {
    const before = deployment.files();
    // A migration needs the addresses of the database alone.
    const migration = deployment.start(["node", "dist/causeway.js", "migrate"], {
      DATABASE_URL: environment.DATABASE_URL ?? "",
      // The service connects with another role, which owns no table.
      DATABASE_OWNER_URL: databaseUrl(process.env.E2E_DATABASE_OWNER_URL, database),
    });
    expect(await migration.ended, migration.output()).toBe(0);
    expect(migration.output()).toMatch(/^\d+ migration\(s\) applied\.$/m);
    const verified = deployment.start(["node", "dist/causeway.js", "ledger:verify", "--json"], {
      DATABASE_URL: environment.DATABASE_URL ?? "",
    });
    expect(await verified.ended, verified.output()).toBe(0);
    expect(JSON.parse(verified.output())).toMatchObject({ isWhole: true });

    const ports = [await freePort(), await freePort()] as const;
    const start = (variables: Record<string, string>): Started =>
      deployment.start(deployment.command, { ...environment, ...variables });
    const webs = ports.map((port) => start({ ROLE: "web", PORT: String(port) }));
    const workers = [start({ ROLE: "worker" }), start({ ROLE: "worker" })];
    const [first, second] = ports;
    for (const port of ports) {
      await expect
        .poll(() => isHealthy(deployment, port), {
          ...WAIT,
          message: webs.map((web) => web.output()).join("\n"),
        })
        .toBe(true);
      await expect.poll(() => statusOf(port, "/api/ready"), WAIT).toBe(200);
      expect(await statusOf(port, "/sign-in")).toBe(200);
    }

    const slow = await slowRequest(first);
    webs[0]?.child.kill("SIGTERM");
    await expect.poll(() => refuses(first), WAIT).toBe(true);
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 200 [^]*"nonce"/);
    expect(await webs[0]?.ended, webs[0]?.output()).toBe(0);
    for (const worker of workers.slice(0, 1)) await expectEnded(worker);
    // The other worker has taken over: readiness requires a live worker.
    await expect.poll(() => statusOf(second, "/api/ready"), WAIT).toBe(200);
    for (const started of [...webs.slice(1), ...workers.slice(1)]) await expectEnded(started);

    for (const started of [migration, ...webs, ...workers])
      expect(started.output()).not.toMatch(/EACCES|EROFS|EPERM|read-only file system/i);
    expect(deployment.files()).toEqual(before);
  } finally {
    await deployment.remove();
    await mail.close();
  }
});

test("a copy that lacks node_modules folders of the build does not start, and says why", async () => {
  const deployment = assemble(".", { without: ".next/node_modules" });
  try {
    const started = deployment.start(deployment.command, {
      ...environmentOf("nothing", 1),
      ROLE: "web",
    });
    expect(await started.ended, started.output()).toBe(1);
    expect(started.output()).toMatch(/The web app: .* \.next\/node_modules\/.* missing/);
  } finally {
    await deployment.remove();
  }
});

test("units of systemd and services of compose.yaml start what the image starts", () => {
  const deployment = assemble(".");
  const command = deployment.command.join(" ");
  const files = ["ops/systemd/causeway-web@.service", "ops/systemd/causeway-worker@.service"];
  for (const file of files)
    expect(readFileSync(file, "utf8")).toContain(`ExecStart=/usr/bin/${command}\n`);
  expect(readFileSync("ops/systemd/causeway-migrate.service", "utf8")).toContain(
    "ExecStart=/usr/bin/node dist/causeway.js migrate\n",
  );
  expect(readFileSync("compose.yaml", "utf8")).toContain(
    'command: ["node", "dist/causeway.js", "migrate"]',
  );
  return deployment.remove();
});
