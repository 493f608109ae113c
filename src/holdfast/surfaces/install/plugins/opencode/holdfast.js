// Holdfast inside opencode. Written by `holdfast install opencode`; `holdfast uninstall opencode`
// takes it away again. Whatever fails in here, opencode goes on as if it were not there.
import { spawn } from "node:child_process"

const HOOK = ["@HOLDFAST_HOOK@"]
// No text has more tokens than bytes, so nothing up to this size is large.
const SMALL = 4000
// The part of a window from which on old calls and results are told shorter, and how many messages
// have to come before that is looked at again.
const FULL = 0.5
const MORE = 3

const ask = (event, document, seconds) =>
  new Promise((resolve) => {
    let done = false
    const end = (answer) => {
      if (!done) resolve(answer)
      done = true
    }
    try {
      const child = spawn(HOOK[0], [...HOOK.slice(1), "opencode", event], {
        stdio: ["pipe", "pipe", "ignore"],
      })
      const timer = setTimeout(() => {
        child.kill("SIGKILL")
        end({})
      }, seconds * 1000)
      const heard = []
      child.on("error", () => end({}))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => heard.push(piece))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          end(heard.length ? JSON.parse(Buffer.concat(heard).toString("utf8")) : {})
        } catch {
          end({})
        }
      })
      child.stdin.end(JSON.stringify(document))
    } catch {
      end({})
    }
  })

export const HoldfastPlugin = async ({ directory }) => {
  // Per session: what every request is told besides, what stands for old calls, the window's size
  // and how many messages there were when we last looked.
  const sessions = new Map()
  const known = (id) => {
    if (!sessions.has(id)) sessions.set(id, { told: "", replaced: {}, window: 0, looked: -1 })
    return sessions.get(id)
  }
  const told = (session, more) => ({ session, directory, ...more })

  const begin = async (info) => {
    const worker = Boolean(info.parentID)
    const answer = await ask(
      worker ? "worker" : "session.created",
      told(worker ? info.parentID : info.id, { worker: worker ? info.agent || "worker" : "" }),
      10,
    )
    if (answer.context) known(info.id).told = answer.context
  }

  // A session from before this process began: it is told once where it stood.
  const goOn = async (id) => {
    const session = known(id)
    if (session.looked >= 0 || session.told) return
    const answer = await ask("session.resumed", told(id), 10)
    session.told = answer.context || ""
  }

  return {
    event: async ({ event }) => {
      try {
        const given = event.properties || {}
        if (event.type === "session.created" && given.info) {
          known(given.info.id).looked = 0
          await begin(given.info)
        }
        if (event.type === "session.compacted") {
          const session = known(given.sessionID)
          session.replaced = {}
          session.looked = 0
        }
        if (event.type === "session.idle") await ask("session.idle", told(given.sessionID), 10)
        if (event.type === "session.deleted") sessions.delete((given.info || {}).id)
      } catch {}
    },

    "chat.message": async (input, output) => {
      try {
        const own = (output.parts || []).filter((part) => part.type === "text" && !part.synthetic)
        const prompt = own.map((part) => part.text).join("\n")
        if (!prompt) return
        await goOn(input.sessionID)
        const answer = await ask("chat.message", told(input.sessionID, { prompt }), 5)
        const context = answer.block || answer.context
        if (context) own[own.length - 1].text += `\n\n${context}`
      } catch {}
    },

    "chat.params": async (input) => {
      try {
        const limit = (input.model || {}).limit || {}
        if (limit.context) known(input.sessionID).window = limit.context
      } catch {}
    },

    "tool.execute.before": async (input, output) => {
      try {
        if (input.tool !== "task" || !(output.args || {}).prompt) return
        const { prompt, subagent_type: worker } = output.args
        const answer = await ask("tool.execute.before", told(input.sessionID, { prompt, worker }), 10)
        if (answer.prompt) output.args.prompt = answer.prompt
      } catch {}
    },

    "tool.execute.after": async (input, output) => {
      try {
        const text = typeof output.output === "string" ? output.output : ""
        if (input.tool === "task") {
          const worker = (input.args || {}).subagent_type
          await ask("worker.done", told(input.sessionID, { said: text, worker }), 10)
        }
        const code = (output.metadata || {}).exit
        const failed = typeof code === "number" && code !== 0
        if (Buffer.byteLength(text) <= SMALL && !failed) return
        const call = { call: input.callID, tool: input.tool, args: input.args, output: text, failed }
        const answer = await ask("tool.execute.after", told(input.sessionID, call), 5)
        if (answer.output) output.output = answer.output
      } catch {}
    },

    "experimental.chat.messages.transform": async (_, output) => {
      try {
        const messages = output.messages || []
        const last = messages[messages.length - 1]
        if (!last) return
        const id = last.info.sessionID
        const session = known(id)
        const answered = messages.map((one) => one.info).filter((info) => info.tokens)
        const used = answered.length ? answered[answered.length - 1].tokens : null
        const tokens = used ? used.input + used.output + used.cache.read + used.cache.write : 0
        const part = session.window ? tokens / session.window : 0
        // What was told shorter before stays so: a process that has just begun asks once.
        const fresh = session.looked < 0 && answered.length > 0
        if (fresh || (part >= FULL && messages.length >= session.looked + MORE)) {
          session.looked = messages.length
          const answer = await ask("messages", told(id, { tokens, window: session.window }), 10)
          session.replaced = { ...session.replaced, ...(answer.replaced || {}) }
        }
        for (const message of messages) {
          for (const one of message.parts || []) {
            const shorter = one.type === "tool" ? session.replaced[one.callID] : undefined
            if (!shorter || !one.state) continue
            if (shorter.input) one.state = { ...one.state, input: JSON.parse(shorter.input) }
            if (shorter.output && one.state.status === "completed")
              one.state = { ...one.state, output: shorter.output }
          }
        }
      } catch {}
    },

    "experimental.chat.system.transform": async (input, output) => {
      try {
        const session = sessions.get(input.sessionID)
        if (session && session.told) output.system.push(session.told)
      } catch {}
    },

    "experimental.session.compacting": async (input, output) => {
      try {
        const answer = await ask("experimental.session.compacting", told(input.sessionID), 20)
        if (answer.context) output.context.push(answer.context)
        // Nobody waits for the event that tells of the end, and the next request follows at once.
        const after = await ask("session.compacted", told(input.sessionID), 10)
        if (after.context) known(input.sessionID).told = after.context
      } catch {}
    },
  }
}
