import type { Metadata } from "next";
import { redirect } from "next/navigation";
import type { ReactNode } from "react";
import { safePath } from "@/components/features/sign-in/safe-path";
import { SignIn } from "@/components/features/sign-in/sign-in";
import { getBrowserSession } from "@/lib/http/session";

export const metadata: Metadata = { title: "Sign in" };

interface PageProps {
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

const first = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

const SignInPage = async ({ searchParams }: PageProps): Promise<ReactNode> => {
  const { from, again } = await searchParams;
  const target = safePath(first(from));
  const mustSignInAgain = first(again) === "1";
  if (!mustSignInAgain && (await getBrowserSession()) !== null) redirect(target);
  return <SignIn from={target} again={mustSignInAgain} />;
};

export default SignInPage;
