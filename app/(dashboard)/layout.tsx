import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { SHELL_QUERIES } from "@/app/_data/queries";
import { LiveProvider } from "@/components/features/live/live-provider";
import { AppShell } from "@/components/layout/app-shell";
import { parseUrl } from "@/lib/core/parse-url";
import { getBrowserSession } from "@/lib/http/session";

interface LayoutProps {
  readonly children: ReactNode;
}

/** Set by server.ts, because layouts do not know their path; without it people land on the overview. */
const PATH_HEADER = "x-causeway-path";

const signInPath = async (): Promise<string> => {
  const asked = (await headers()).get(PATH_HEADER);
  const url = asked === null ? null : parseUrl(asked, "http://localhost");
  if (url === null) return "/sign-in";
  const { pathname, searchParams } = url;
  // Next's own mark on requests for parts of a page.
  searchParams.delete("_rsc");
  const from = searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
  return from === "/" ? "/sign-in" : `/sign-in?from=${encodeURIComponent(from)}`;
};

const DashboardLayout = async ({ children }: LayoutProps): Promise<ReactNode> => {
  if ((await getBrowserSession()) === null) redirect(await signInPath());
  return (
    <Prefetched queries={SHELL_QUERIES}>
      <LiveProvider>
        <AppShell>{children}</AppShell>
      </LiveProvider>
    </Prefetched>
  );
};

export default DashboardLayout;
