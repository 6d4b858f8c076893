/**
 * Code that verifies a webhook signature without a library. A test runs each snippet whose runtime
 * is installed.
 */
const TYPESCRIPT = `import { createHmac, timingSafeEqual } from "node:crypto";

/** \`body\` is the text as it came, before any JSON.parse. */
export const verify = (secret, headers, body) => {
  const [id, time] = [headers["webhook-id"], headers["webhook-timestamp"]];
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = createHmac("sha256", key).update(\`\${id}.\${time}.\${body}\`).digest();
  return headers["webhook-signature"].split(" ").some((signature) => {
    const given = Buffer.from(signature.replace("v1,", ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
};
`;

const PYTHON = `import base64, hashlib, hmac, time

def verify(secret, headers, body):
    """body is the text as it came, before any json.loads."""
    message_id, sent = headers["webhook-id"], headers["webhook-timestamp"]
    if abs(time.time() - int(sent)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{message_id}.{sent}.{body}".encode()
    expected = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return any(
        hmac.compare_digest(signature, "v1," + expected)
        for signature in headers["webhook-signature"].split(" ")
    )
`;

const GO = `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Verify needs the body as it came, before any JSON is decoded.
func Verify(secret string, header http.Header, body []byte) bool {
	id, sent := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-seconds)) > 300 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, signature := range strings.Split(header.Get("webhook-signature"), " ") {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}
`;

export const VERIFY_SNIPPETS = [
  { id: "ts", label: "TypeScript", code: TYPESCRIPT },
  { id: "python", label: "Python", code: PYTHON },
  { id: "go", label: "Go", code: GO },
] as const;
