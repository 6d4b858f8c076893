import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { SHELL_QUERIES } from "@/app/_data/queries";
import { AppShell } from "@/components/layout/app-shell";
import { NothingHere } from "@/components/layout/nothing-here";
import { getBrowserSession } from "@/lib/http/session";

/** Inside the frame of the dashboard for a person who is signed in, so that they can go on. */
const NotFound = async (): Promise<ReactNode> =>
  (await getBrowserSession()) === null ? (
    <main className="mx-auto max-w-2xl px-4 pt-[10vh]">
      <NothingHere />
    </main>
  ) : (
    <Prefetched queries={SHELL_QUERIES}>
      <AppShell>
        <NothingHere />
      </AppShell>
    </Prefetched>
  );

export default NotFound;
