import { headers } from "next/headers";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { AppShell } from "@/components/layout/app-shell";
import { getBrowserSession } from "@/lib/http/session";

interface LayoutProps {
  readonly children: ReactNode;
}

const DashboardLayout = async ({ children }: LayoutProps): Promise<ReactNode> => {
  const session = await getBrowserSession();
  if (session === null) {
    // Set by server.ts; layouts do not know their path otherwise.
    const path = (await headers()).get("x-causeway-path");
    redirect(path === null || path === "/" ? "/sign-in" : `/sign-in?from=${encodeURIComponent(path)}`);
  }
  return <AppShell>{children}</AppShell>;
};

export default DashboardLayout;
